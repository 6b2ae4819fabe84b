"""The words of a Temporal server's protocol as errors of forge-bot."""

from temporalio.service import RPCError, RPCStatusCode

from forge_bot.errors import TemporalRefused, TemporalUnavailable


def as_forge_error(
    error: RPCError, address: str, namespace: str
) -> TemporalUnavailable | TemporalRefused:
    """Return the error for what the server's protocol says."""
    if error.status in {RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT}:
        return TemporalRefused(f"{address} has no namespace {namespace!r}.")
    if error.status in {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED}:
        return TemporalRefused(f"{address} refuses access to {namespace!r}.")
    return TemporalUnavailable(
        f"The Temporal server {address or 'of this command'} does not answer."
    )
