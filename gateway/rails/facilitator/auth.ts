import { SignJWT } from 'jose';
import type { Clock, Random } from '../../../subgraphs/clock.ts';
import { type CdpKey, cdpKey, type FacilitatorAuth } from '../../config/facilitator-auth.ts';

/** Returns the Authorization header for one request; null if the facilitator needs none. */
export type Authorize = (method: 'GET' | 'POST', url: string) => Promise<string | null>;

/** Lifetime of a token. CDP accepts none that is valid for longer. */
const VALID_SECONDS = 120;
const NONCE_BYTES = 16;

export function openAuthorize(
  auth: FacilitatorAuth | null,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Authorize {
  if (auth === null) return async () => null;
  if (auth.kind === 'bearer') return async () => `Bearer ${auth.token.reveal()}`;
  const key = cdpKey(auth.secret.reveal());
  if (key === null) throw new Error('FACILITATOR_AUTH was accepted as a key but is not one');
  return async (method, url) => {
    const nonce = Buffer.from(random.bytes(NONCE_BYTES)).toString('hex');
    const now = Math.floor(clock.now_ms() / 1_000);
    return `Bearer ${await cdpToken(key, { key_id: auth.key_id, request: requestName(method, url), nonce, now })}`;
  };
}

interface CdpRequest {
  readonly key_id: string;
  readonly request: string;
  readonly nonce: string;
  /** Unix time in seconds. */
  readonly now: number;
}

/**
 * The bearer token for CDP's API, valid for one request (docs.cdp.coinbase.com, "Authentication"). The claim `uris` is of its
 * version 2, `uri` of the version before.
 */
function cdpToken({ alg, key }: CdpKey, { key_id, request, nonce, now }: CdpRequest): Promise<string> {
  return new SignJWT({ uri: request, uris: [request] })
    .setProtectedHeader({ alg, kid: key_id, typ: 'JWT', nonce })
    .setIssuer('cdp')
    .setSubject(key_id)
    .setAudience(['cdp_service'])
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + VALID_SECONDS)
    .sign(key);
}

/** Name of a request in its token: `METHOD host/path`, without scheme and query. */
function requestName(method: string, url: string): string {
  const { host, pathname } = new URL(url);
  return `${method} ${host}${pathname}`;
}
