/*
 * URLs of everything that is needed to check a receipt or refusal, shared by signing, serving and verifying code. `base_url` is the
 * issuer's, without a trailing slash.
 */

export function jwksUri(base_url: string): string {
  return `${base_url}/.well-known/jwks.json`;
}

/** The public page of a receipt. */
export function verifyUrl(base_url: string, task_id: string): string {
  return `${base_url}/receipt/${task_id}`;
}

export function refusalUrl(base_url: string, refusal_id: string): string {
  return `${base_url}/refusal/${refusal_id}`;
}

/** Whether a verdict was replaced by a later one. Public, and without the claim. */
export function disputeStatusUrl(base_url: string, dispute_id: string): string {
  return `${base_url}/dispute/${dispute_id}`;
}

/** The links in `verification` of a refusal, and of a receipt too. */
export function issuerLinks(base_url: string) {
  return {
    jwks_uri: jwksUri(base_url),
    issuer_history_uri: `${base_url}/.well-known/issuer-history.json`,
  };
}

/** The links in `verification` of a receipt. */
export function receiptLinks(base_url: string, task_id: string) {
  return {
    ...issuerLinks(base_url),
    receipt_policy_uri: `${base_url}/.well-known/receipt-policy-history.json`,
    preimage_uri: `${verifyUrl(base_url, task_id)}/preimage`,
  };
}

/** Base URL of the log's tiles (https://c2sp.org/tlog-tiles). */
export function logPrefix(base_url: string): string {
  return `${base_url}/log`;
}

/** Origin of the log in checkpoints: its base URL without the scheme, as tlog-tiles requires. */
export function logOrigin(base_url: string): string {
  return logPrefix(base_url).replace(/^https?:\/\//, '');
}

/** did:web 3.1: the host with the colon of its port encoded, then the path with colons for slashes. */
export function didWeb(base_url: string): string {
  const { host, pathname } = new URL(base_url);
  return ['did:web', host, ...pathname.split('/')]
    .filter(part => part !== '')
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join(':');
}
