import { Client, type Dispatcher, errors } from 'undici';
import { webhookLimits } from '../../schema/limits.ts';
import { retryAfterMs } from '../../schema/webhook/retry.ts';
import { type WebhookReach, webhookUrl } from '../../schema/webhook/url.ts';
import type { DeliveryFault } from '../../subgraphs/book/webhook/record-attempt.ts';
import { AddressRefused, guardLookup, NotResolved, type Resolve } from './look-up.ts';

/** Result of one delivery attempt. */
export type AttemptOutcome =
  | { readonly kind: 'delivered'; readonly status: number }
  /** Status 410: the receiver wants no more messages. */
  | { readonly kind: 'gone' }
  | ({ readonly kind: 'failed' } & DeliveryFault);

interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt early when it is aborted. */
  readonly signal: AbortSignal;
}

export interface ReachRules {
  readonly reach: WebhookReach;
  readonly resolve: Resolve;
}

const { attempt_ms_max, prompt_ms_max, answer_bytes_max } = webhookLimits;
const HEADER_BYTES_MAX = 16_384;
const GONE = 410;

/**
 * Posts a message on a new connection, to an address that was checked for this connection. It follows no redirect and uses no
 * proxy. Only the status and Retry-After of the response are used.
 */
export async function attempt(request: Request, { reach, resolve }: ReachRules): Promise<AttemptOutcome> {
  // The URL may have been set under another profile, so it is checked by the rules of the current one.
  const judged = webhookUrl(request.url, reach);
  if (judged.kind === 'refused') return failedBy(faults.address_refused);
  const { origin, pathname, search } = judged.url;
  const client = new Client(origin, {
    connect: { lookup: guardLookup(reach, resolve), rejectUnauthorized: true, timeout: attempt_ms_max },
    headersTimeout: attempt_ms_max,
    bodyTimeout: attempt_ms_max,
    maxHeaderSize: HEADER_BYTES_MAX,
    pipelining: 0,
  });
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(attempt_ms_max)]);
  try {
    const { headers, body } = request;
    const answer = await client.request({ method: 'POST', path: pathname + search, headers, body, signal });
    await readSome(answer);
    return outcomeOf(answer);
  } catch (error) {
    // If the caller aborted the attempt, its reason is thrown.
    request.signal.throwIfAborted();
    return failedBy(attemptFault(error));
  } finally {
    await client.destroy().catch(() => {});
  }
}

/** Reads a short response body to its end, so that the receiver sees no broken connection. Stops at a limit of size and time. */
async function readSome({ body }: Dispatcher.ResponseData): Promise<void> {
  let bytes = 0;
  const late = setTimeout(() => body.destroy(), prompt_ms_max);
  try {
    for await (const piece of body) {
      bytes += (piece as Buffer).length;
      if (bytes > answer_bytes_max) break;
    }
  } catch {
    // The body is not needed, because only the status counts.
  } finally {
    clearTimeout(late);
  }
}

function outcomeOf({ statusCode: status, headers }: Dispatcher.ResponseData): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  if (status === GONE) return { kind: 'gone' };
  const retry_after = headers['retry-after'];
  const retry_after_ms = retryAfterMs(typeof retry_after === 'string' ? retry_after : null, Date.now());
  const error = status >= 300 && status < 400 ? faults.redirected : `The receiver responded with HTTP ${status}.`;
  return { kind: 'failed', status, error, retry_after_ms };
}

function failedBy(error: string): AttemptOutcome {
  return { kind: 'failed', status: null, error, retry_after_ms: null };
}

/**
 * Public reasons of failed attempts. An error's own message is not used, because it could contain the URL, an address or a
 * stranger's text.
 */
export const faults = {
  address_refused: 'The host resolves to an address that is not public.',
  not_resolved: 'The host could not be resolved.',
  untrusted: 'The TLS certificate of the receiver is not trusted for its host.',
  connection: 'The connection failed.',
  timed_out: 'The receiver did not respond in time.',
  redirected: 'The receiver responded with a redirect, which is not followed.',
  made_room: 'The attempt was ended because the receiver was slow and other deliveries were waiting.',
  disabled: 'The webhook was disabled.',
  busy: 'No attempt was made: deliveries to this receiver are paused because it fails or is slow.',
} as const;

/** Matches codes of OpenSSL and Node for errors of certificates and handshakes. */
const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

function attemptFault(error: unknown): string {
  if (error instanceof AddressRefused) return faults.address_refused;
  if (error instanceof NotResolved) return faults.not_resolved;
  if (isTimeOut(error)) return faults.timed_out;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && TLS.test(code) ? faults.untrusted : faults.connection;
}

function isTimeOut(error: unknown): boolean {
  if (error instanceof DOMException) return error.name === 'TimeoutError';
  return [errors.HeadersTimeoutError, errors.BodyTimeoutError, errors.ConnectTimeoutError].some(
    kind => error instanceof kind,
  );
}
