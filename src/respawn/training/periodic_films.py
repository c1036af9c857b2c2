"""Films of a run while it learns, of the weights that were just judged. They change no number of the run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from respawn.contracts.clock import Clock
from respawn.contracts.learner import Weights
from respawn.contracts.records import Episode, EvaluationReport, Event, Probe
from respawn.runs.layout import RunFolder
from respawn.training.config import RunConfig
from respawn.worlds.fish.config import FishConfig

if TYPE_CHECKING:
    from respawn.training.trained import Trained


class PeriodicFilms:
    """Films a greedy episode after every so-many-th evaluation, and the worst schools of each, in worlds of its own."""

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
        judged = evaluation.every_updates > 0 and clock.updates % evaluation.every_updates == 0
        return judged and (evaluation.worst_films > 0 or self._episode_due(clock))

    def film(self, weights: Weights, clock: Clock, judged: EvaluationReport) -> None:
        """Film what is due of the weights that were judged; what fails is told as a warning, and training goes on."""
        # Imported only now: films are made of parts that are themselves made here.
        from respawn.training.tail_films import film_worst_schools
        from respawn.training.trained import Trained

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
        if self._episode_due(clock):
            with self._failure_told(f"update {clock.updates}"):
                self._film_episode(trained, judged.probe)
        count = self._config.evaluation.worst_films
        if count > 0 and judged.probe is not None:
            with self._failure_told(f"the worst of update {clock.updates}"):
                for filmed in film_worst_schools(
                    trained, self._folder, judged.probe, count, device_name=str(self._device)
                ):
                    self._notify(filmed)

    def _episode_due(self, clock: Clock) -> bool:
        evaluation = self._config.evaluation
        if evaluation.video_every == 0 or evaluation.every_updates == 0:
            return False
        number, rest = divmod(clock.updates, evaluation.every_updates)
        return rest == 0 and number % evaluation.video_every == 0

    def _film_episode(self, trained: "Trained", probe: Probe | None) -> None:
        from respawn.training.film import FilmOrder, make_film
        from respawn.training.school_film import SchoolFilmOrder, film_schools
        from respawn.training.tail_films import probe_knobs

        path, device_name = self._folder.videos / f"update-{trained.updates:06}.mp4", str(self._device)
        evaluation, world = self._config.evaluation, self._config.world
        episode: Episode | None
        if isinstance(world, FishConfig):
            schools = SchoolFilmOrder(fish=world.judged_fish, seed=evaluation.seed_base)
            knobs = None if probe is None else probe_knobs(probe)
            (school,) = film_schools(trained, schools, path, knobs=knobs, device_name=device_name)
            episode = school.episode
        else:
            order = FilmOrder(seed=evaluation.seed_base, limit_steps=evaluation.limit_steps)
            (take,) = make_film(trained, self._config, order, path, device_name=device_name)
            episode = take.episode
        end = "" if episode is None else f" ({episode.end})"
        self._notify(Event("filmed", f"update {trained.updates} is filmed{end}: {path}", facts={"path": str(path)}))

    @contextmanager
    def _failure_told(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a film is no reason to lose a run, and it is recorded
            said = f"{what} could not be filmed: {type(error).__name__}: {error}"
            self._notify(Event("film_failed", " ".join(said.split()), "warning"))
