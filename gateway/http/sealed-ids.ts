import type { UnpaidRequests } from '../../rest-compat/faces/a2a/unpaid-requests.ts';
import type { ToolSessions } from '../../rest-compat/faces/mcp/sessions.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { offeredLimits } from '../../schema/limits.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Vault } from '../../subgraphs/vault.ts';

/*
 * Ids that contain their own content, sealed with keys that all processes of a service share: tool sessions and offered requests.
 */

const SESSION_LABEL = 'tool session';
const ID_BYTES = 16;
/** Lifetime of a session, counted from the handshake, regardless of use. A client that needs longer makes another handshake. */
const STANDS_SECONDS = 86_400;

/**
 * Opens sessions whose ids contain their state: `<random>.<expiry, Unix seconds>.<mark>`. The mark is made with a key that all
 * processes of a service share.
 */
export function openToolSessions({
  vault,
  clock,
  random,
}: {
  vault: Pick<Vault, 'mark'>;
  clock: Clock;
  random: Random;
}): ToolSessions {
  const now_seconds = () => Math.floor(clock.now_ms() / 1_000);
  const markOf = (text: string) => vault.mark(text, SESSION_LABEL);
  return {
    begin() {
      const text = `${Buffer.from(random.bytes(ID_BYTES)).toString('base64url')}.${now_seconds() + STANDS_SECONDS}`;
      return `${text}.${markOf(text)}`;
    },
    // A session grants no access, so the comparison need not take constant time.
    isValid(id) {
      const [, text = '', lapses = '', mark] = /^([\w-]{22}\.(\d{1,12}))\.([\w-]{22})$/.exec(id) ?? [];
      return mark !== undefined && Number(lapses) > now_seconds() && markOf(text) === mark;
    },
  };
}

const OFFER_PREFIX = 'offer_';
const OFFER_LABEL = 'offered request';

interface SealedRequest {
  readonly request: JsonObject;
  readonly lapses_ms: number;
}

/** Seals requests into the ids by which they are paid for. Any process of this service can open an id that another one made. */
export function openUnpaidRequests({
  vault,
  clock,
}: {
  vault: Pick<Vault, 'seal' | 'open'>;
  clock: Clock;
}): UnpaidRequests {
  return {
    seal(request) {
      const sealed: SealedRequest = { request, lapses_ms: clock.now_ms() + offeredLimits.request_seconds_max * 1_000 };
      const text = JSON.stringify(sealed);
      if (Buffer.byteLength(text) > offeredLimits.request_bytes_max) return null;
      return OFFER_PREFIX + vault.seal(text, OFFER_LABEL).toString('base64url');
    },
    open(id) {
      if (!id.startsWith(OFFER_PREFIX) || id.length > 2 * offeredLimits.request_bytes_max) return null;
      try {
        const opened = vault.open(Buffer.from(id.slice(OFFER_PREFIX.length), 'base64url'), OFFER_LABEL);
        const { request, lapses_ms } = JSON.parse(opened.toString('utf8')) as SealedRequest;
        return { request, lapsed: clock.now_ms() > lapses_ms };
      } catch {
        // The id was altered, or sealed with another key.
        return null;
      }
    },
  };
}
