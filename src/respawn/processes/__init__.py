"""Child processes: fresh interpreters that are started, spoken to, asked for their stacks, and never left behind."""
