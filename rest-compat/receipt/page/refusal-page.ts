import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type Html, html } from '../../../schema/html.ts';
import type { refusalCodes } from '../../../schema/refusal-payload.ts';
import { refusalFacts } from './check/facts.js';
import { shownBy } from './check/receipt-checks.js';
import { refusalCheckNames } from './check/refusal-checks.js';
import { openJws } from './check/signatures.js';
import { factRow, pageText, profileBanner } from './layout.ts';
import { objectIn, textsIn } from './receipt-page.ts';

const APART = new Set(['Refused', 'Profile']);

const WANTS_APPROVAL = 'approval_ttl_expired' satisfies (typeof refusalCodes)[number];

/** A refusal for people, made of its audit document. */
export function refusalPage(audit: JsonObject): string {
  const refusal = objectIn(audit.refusal);
  const facts = shownBy(refusalFacts(openJws(objectIn(refusal.issuer_signature).jws)?.claims ?? {}));
  const { Refused = '', Profile = '', Refusal = '' } = facts;
  const url = String(refusal.refusal_url);
  return pageText({
    title: `Refusal ${Refusal}`,
    kind: 'Signed refusal: no receipt, and not spend',
    sum: html`Refused: <span data-fact="Refused">${Refused}</span>`,
    profile: profileBanner(Profile),
    facts: [
      ...Object.entries(facts).flatMap(([name, text]) => (APART.has(name) ? [] : [factRow(name, text)])),
      ...(Profile === 'development' ? [] : [factRow('Profile', Profile)]),
    ],
    checks: refusalCheckNames,
    proves: textsIn(audit.proves),
    does_not_prove: textsIn(audit.does_not_prove),
    beside: Refused === WANTS_APPROVAL ? [whereApproved(url)] : [],
    links: [
      ['JSON', `${url}?format=json`],
      ['For auditors', `${url}?format=auditor`],
      ['Keys', String(objectIn(refusal.verification).jwks_uri)],
    ],
    evidence: audit,
  });
}

function whereApproved(refusal_url: string): Html {
  return html`<h2>How such a call is approved</h2>
<p>If it was paid for, the owner of its book can let it pass: <a href="${new URL('../approvals', refusal_url).href}">this page</a> asks the wallet of the book’s agent.</p>`;
}
