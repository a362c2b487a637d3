import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type Html, html } from '../../../schema/html.ts';
import type { RefusalCode } from '../../../schema/policy-rule.ts';
import { factsOfRefusal } from './facts.ts';
import { factRow, factRows, pageText, profileBanner } from './layout.ts';
import { checksIn, claimsIn, objectIn, textsIn } from './receipt-page.ts';

const SHOWN_ELSEWHERE = new Set(['Refused', 'Profile']);

const WANTS_APPROVAL = 'approval_ttl_expired' satisfies RefusalCode;

/** The code for an expired approval also applies to a call that never had one. */
const words: Readonly<Record<string, string>> = {
  policy_blocked: 'Refused by the policy of its book',
  budget_exhausted: 'Refused, because the budget of its book is used up',
  approval_ttl_expired: 'Refused until a person approves it',
} satisfies Record<RefusalCode, string>;

/** Page of a refusal, made of its audit document. `program` checks it in the browser. */
export function refusalPage(audit: JsonObject, program: string): string {
  const refusal = objectIn(audit.refusal);
  const facts = factsOfRefusal(claimsIn(refusal));
  const { Refused = '', Profile = '', Refusal = '' } = facts;
  const url = String(refusal.refusal_url);
  return pageText(
    {
      title: `Refusal ${Refusal}`,
      kind: 'Signed refusal: not a receipt, and nothing was spent',
      sum: html`${words[Refused] ?? 'Refused'} (<span data-fact="Refused">${Refused}</span>)`,
      profile: profileBanner(Profile),
      facts: [...factRows(facts, SHOWN_ELSEWHERE), ...(Profile === 'development' ? [] : [factRow('Profile', Profile)])],
      checks: checksIn(audit),
      proves: textsIn(audit.proves),
      does_not_prove: textsIn(audit.does_not_prove),
      beside: Refused === WANTS_APPROVAL ? [approvalHint(url)] : [],
      links: [
        ['JSON', `${url}?format=json`],
        ['For auditors', `${url}?format=auditor`],
        ['Keys', String(objectIn(refusal.verification).jwks_uri)],
      ],
      evidence: audit,
    },
    program,
  );
}

function approvalHint(refusal_url: string): Html {
  return html`<h2>How such a call is approved</h2>
<p>If it was paid for, the owner of the book can approve it on <a href="${new URL('../approvals', refusal_url).href}">this page</a> with the wallet of the agent.</p>`;
}
