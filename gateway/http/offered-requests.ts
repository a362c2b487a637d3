import type { OfferedRequests } from '../../rest-compat/faces/a2a/kept-elsewhere.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { offeredLimits } from '../../schema/limits.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import type { Vault } from '../../subgraphs/vault.ts';

const OFFER_PREFIX = 'offer_';
const OFFER_LABEL = 'offered request';

interface Sealed {
  readonly request: JsonObject;
  readonly lapses_ms: number;
}

/** Requests inside of the ids by which they are paid for, sealed: any process of this service opens what another has offered. */
export function openOfferedRequests({
  vault,
  clock,
}: {
  vault: Pick<Vault, 'seal' | 'open'>;
  clock: Clock;
}): OfferedRequests {
  return {
    seal(request) {
      const sealed: Sealed = { request, lapses_ms: clock.now_ms() + offeredLimits.request_seconds_max * 1_000 };
      const text = JSON.stringify(sealed);
      if (Buffer.byteLength(text) > offeredLimits.request_bytes_max) return null;
      return OFFER_PREFIX + vault.seal(text, OFFER_LABEL).toString('base64url');
    },
    open(id) {
      if (!id.startsWith(OFFER_PREFIX) || id.length > 2 * offeredLimits.request_bytes_max) return null;
      try {
        const opened = vault.open(Buffer.from(id.slice(OFFER_PREFIX.length), 'base64url'), OFFER_LABEL);
        const { request, lapses_ms } = JSON.parse(opened.toString('utf8')) as Sealed;
        return { request, lapsed: clock.now_ms() > lapses_ms };
      } catch {
        // Altered, or sealed under another key.
        return null;
      }
    },
  };
}
