import pytest

from respawn.worlds.fish import kernels


@pytest.fixture(params=["compiled", "torch"])
def way(request, monkeypatch):
    """Both ways to do what happens in the tanks: for tests that must hold in either."""
    if request.param == "torch":
        monkeypatch.setattr(kernels, "compiled", lambda device: None)
    return request.param
