import type { JsonObject } from '../../../schema/canonical-json.ts';
import { html } from '../../../schema/html.ts';
import { refusalFacts } from './check/facts.js';
import { shownBy } from './check/receipt-checks.js';
import { refusalCheckNames } from './check/refusal-checks.js';
import { openJws } from './check/signatures.js';
import { factRow, pageText, profileBanner } from './layout.ts';
import { objectIn, textsIn } from './receipt-page.ts';

const APART = new Set(['Refused', 'Profile']);

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
    beside: [],
    links: [
      ['JSON', `${url}?format=json`],
      ['For auditors', `${url}?format=auditor`],
      ['Keys', String(objectIn(refusal.verification).jwks_uri)],
    ],
    evidence: audit,
  });
}
