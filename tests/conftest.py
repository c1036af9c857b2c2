"""Models here are tiny and tests run side by side: more than one thread for each only gets in the others' way."""

import torch

torch.set_num_threads(1)
