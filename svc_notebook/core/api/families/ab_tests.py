"""Endpoints of A/B tests."""

from __future__ import annotations

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.integers import Natural, Positive
from svc_notebook.core.api.shapes.ab_tests import (
    ABTest,
    ABTestChange,
    ABTestConfiguration,
    ABTestEstimate,
    ABTestPage,
    EstimateConfiguration,
    Variants,
)


class ABTestEndpoints(Api, interface="analytics"):
    """A/B tests, which are part of the analytics interface.

    The first variant is the control: searches of its index are divided by user token.
    """

    @endpoint("POST", "/2/abtests", acl="editSettings", repeatable=False)
    async def add_ab_tests(
        self,
        name: str,
        variants: Variants,
        endAt: str,
        configuration: ABTestConfiguration | None = None,
    ) -> ABTestChange:
        """Start an A/B test of two indices, or of search parameters on one index."""
        ...

    @endpoint("GET", "/2/abtests", acl="analytics")
    async def list_ab_tests(
        self,
        *,
        offset: Natural = 0,
        limit: Natural = 10,
        indexPrefix: str | None = None,
        indexSuffix: str | None = None,
    ) -> ABTestPage:
        """List A/B tests with their figures, newest first."""
        ...

    @endpoint("POST", "/2/abtests/estimate", acl="analytics", reads=True)
    async def estimate_ab_test(
        self, configuration: EstimateConfiguration, variants: Variants
    ) -> ABTestEstimate:
        """Estimate how many searches and days an A/B test needs, from the searches so far."""
        ...

    @endpoint("GET", "/2/abtests/{id}", acl="analytics")
    async def get_ab_test(self, id: Positive) -> ABTest:
        """Read an A/B test with its figures."""
        ...

    @endpoint("POST", "/2/abtests/{id}/stop", acl="editSettings")
    async def stop_ab_test(self, id: Positive) -> ABTestChange:
        """Stop an A/B test; its figures stay."""
        ...

    @endpoint("DELETE", "/2/abtests/{id}", acl="editSettings")
    async def delete_ab_test(self, id: Positive) -> ABTestChange:
        """Delete an A/B test; its searches stay counted."""
        ...
