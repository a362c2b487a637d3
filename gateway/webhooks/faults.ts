import { errors } from 'undici';
import { AddressRefused, NotResolved } from './look-up.ts';

/**
 * What is told of an attempt that failed: sentences of ours alone, since an error's own may hold the URL, an address, or
 * what a stranger wrote.
 */
export const faults = {
  address_refused: 'The host leads to an address that is not public.',
  not_resolved: 'The host could not be resolved.',
  untrusted: 'The receiver has no certificate for its host that is trusted here.',
  connection: 'The connection failed.',
  timed_out: 'The receiver did not answer in time.',
  redirected: 'The receiver answered by a redirect, which is not followed.',
  made_room: 'The receiver was slow while others waited.',
  disabled: 'The webhook was disabled.',
  busy: 'The receiver was left alone for a while, since it fails or is slow.',
} as const;

/** Of OpenSSL and Node, as they name what is wrong with a certificate or a handshake. */
const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

export function attemptFault(error: unknown): string {
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
