"""Films of a run while it learns: an episode of the weights that were just judged. They change no number of the run."""

from collections.abc import Callable

import torch

from respawn.contracts.clock import Clock
from respawn.contracts.learner import Weights
from respawn.contracts.records import Event
from respawn.runs.layout import RunFolder
from respawn.training.config import RunConfig


class PeriodicFilms:
    """Films one greedy episode after every so-many-th evaluation, in a world of its own with a model of its own."""

    def __init__(
        self,
        config: RunConfig,
        folder: RunFolder,
        world: str,
        device: torch.device,
        notify: Callable[[Event], None],
    ) -> None:
        """Remember what to film.

        Args:
          config: of the run.
          folder: its folder, where films go.
          world: what `assemble.fingerprint` says of the run's world.
          device: where to compute.
          notify: is told of each film, and of each that could not be made.
        """
        self._config = config
        self._folder = folder
        self._world = world
        self._device = device
        self._notify = notify

    def due(self, clock: Clock) -> bool:
        """Whether the evaluation of this update is one to film; by the update's number alone, so nothing is to save."""
        evaluation = self._config.evaluation
        if evaluation.video_every == 0 or evaluation.every_updates == 0:
            return False
        number, rest = divmod(clock.updates, evaluation.every_updates)
        return rest == 0 and number % evaluation.video_every == 0

    def film(self, weights: Weights, clock: Clock) -> None:
        """Film an episode; what fails is told as a warning, and training goes on."""
        # Imported only now: films are made of parts that are themselves made here.
        from respawn.training.film import FilmOrder, make_film
        from respawn.training.trained import Trained

        path = self._folder.videos / f"update-{clock.updates:06}.mp4"
        trained = Trained(
            name=self._folder.name,
            checkpoint=f"update {clock.updates}",
            config=self._config,
            world=self._world,
            tensors=weights.tensors,
            weights_sha256="",
            updates=clock.updates,
            decisions=clock.decisions,
        )
        evaluation = self._config.evaluation
        order = FilmOrder(seed=evaluation.seed_base, limit_steps=evaluation.limit_steps)
        try:
            (take,) = make_film(trained, self._config, order, path, device_name=str(self._device))
        except Exception as error:  # noqa: BLE001 - a film is no reason to lose a run, and it is recorded
            said = f"update {clock.updates} could not be filmed: {type(error).__name__}: {error}"
            self._notify(Event("film_failed", " ".join(said.split()), "warning"))
            return
        end = "" if take.episode is None else f" ({take.episode.end})"
        self._notify(Event("filmed", f"update {clock.updates} is filmed{end}: {path}", facts={"path": str(path)}))
