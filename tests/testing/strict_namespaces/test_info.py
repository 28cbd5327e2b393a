"""``__array_namespace_info__()`` of strict namespaces."""

import pytest

from array_api_nx.testing import strict
from array_api_nx.testing.strict_namespaces.versions import VERSIONS
from tests.support.refusals import refused


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_info_tells_of_the_version_and_the_options(version):
    xp = strict(version)
    info = xp.__array_namespace_info__()
    capabilities = info.capabilities()
    assert ("max dimensions" in capabilities) == (version >= "2024.12")
    assert capabilities["boolean indexing"] is capabilities["data-dependent shapes"] is True
    assert type(info.devices()) is (list if version < "2025.12" else tuple)
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] is xp.float64
    assert info.dtypes(kind="bool") == {"bool": xp.bool}
    assert len(info.dtypes(device=info.default_device(), kind=("integral", "bool"))) == 9
    assert len(info.dtypes()) == 13


def test_info_refuses_what_the_standard_does_not_say():
    info = strict().__array_namespace_info__()
    refused(ValueError, "use one of", info.dtypes, kind="integer")
    refused(ValueError, "devices are objects", info.dtypes, device="cpu")
    refused(ValueError, "devices are objects", info.default_dtypes, device="cpu")
    assert not hasattr(info, "name")
