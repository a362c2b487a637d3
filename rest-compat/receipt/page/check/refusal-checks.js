import { canonicalText, fromBase64url, isSameJson } from './bytes.js';
import { refusalFacts } from './facts.js';
import { isInItsTime, revocationOf } from './key-times.js';
import { shownBy } from './receipt-checks.js';
import { runAll } from './run.js';
import { isEs256, isIssued, openJws } from './signatures.js';

/** What stands around the signed members. */
const around = ['refusal_url', 'issuer_signature', 'verification'];

/** @type {readonly import('./run.js').Check[]} */
const refusalChecks = [
  {
    name: 'Issuer’s signature',
    says: 'The holder of the issuer’s key signed these claims (ES256).',
    run: ({ audit, jws }) => isIssued(audit.keys, jws),
  },
  {
    name: 'Payload',
    says: 'What is shown as signed is what the signed claims say: a refusal, for which nothing was charged.',
    run: ({ audit, payload }) =>
      audit.preimage === canonicalText(payload) && payload.schema === 'svc402.refusal.v1' && payload.charged === false,
  },
  {
    name: 'Copies',
    says: 'The refusal says what was signed, and nothing that was not.',
    run: ({ audit: { refusal }, payload }) =>
      Object.keys(payload).every(name => isSameJson(refusal[name], payload[name])) &&
      Object.keys(refusal).every(name => name in payload || around.includes(name)),
  },
  {
    name: 'This page',
    says: 'What stands above is what was signed.',
    run: ({ shown, claims }) => shown === null || isSameJson(shown, shownBy(refusalFacts(claims))),
  },
  {
    name: 'Raw signature',
    says: 'The raw ES256 value signs the canonical payload.',
    run: ({ audit: { keys, refusal, preimage }, jws }) =>
      refusal.issuer_signature.kid === jws.header.kid &&
      isEs256(keys, jws.header.kid, preimage, fromBase64url(refusal.issuer_signature.value)),
  },
  {
    name: 'Key in force',
    says: 'The key that signed was the issuer’s by then, and was never revoked.',
    run: ({ audit, jws }) => isInItsTime(audit.keys, jws) && revocationOf(audit.keys, jws) === null,
  },
  {
    name: 'Block of Base',
    says: 'Whether the block that it names is one of Base the chain alone can say: look its hash up.',
    run: () => null,
  },
];

/** Checks an audit document (svc402.refusal_audit.v1) by what it brings itself. @param {any} audit @param {Record<string, string> | null} shown */
export async function checkRefusal(audit, shown) {
  const jws = openJws(audit?.refusal?.issuer_signature?.jws);
  const { iss: _iss, iat: _iat, jti: _jti, ...payload } = jws?.claims ?? {};
  return runAll(refusalChecks, { audit, shown, jws, claims: jws?.claims ?? {}, payload });
}

export const refusalCheckNames = refusalChecks.map(({ name, says }) => ({ name, says }));
