/*
 * Where everything lies that a stranger needs to check a receipt or a refusal: what signs, serves and verifies them all
 * read it here. `base_url` is the issuer's, without a trailing slash.
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

/** Whether a later verdict has taken the place of one: public, and without what was claimed. */
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

/** Under which the log's tiles lie (https://c2sp.org/tlog-tiles). */
export function logPrefix(base_url: string): string {
  return `${base_url}/log`;
}

/** How checkpoints call the log: its prefix without a scheme, as tlog-tiles has it. */
export function logOrigin(base_url: string): string {
  return logPrefix(base_url).replace(/^https?:\/\//, '');
}

/** The did:web method, 3.1: the host with its port's colon encoded, then the path, with colons for slashes. */
export function didWeb(base_url: string): string {
  const { host, pathname } = new URL(base_url);
  return ['did:web', host, ...pathname.split('/')]
    .filter(part => part !== '')
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join(':');
}
