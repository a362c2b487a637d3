import { decodeJwt } from 'jose';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { type Html, html } from '../../../schema/html.ts';
import { factsOfReceipt } from './facts.ts';
import { factRow, factRows, markCode, pageText, profileBanner } from './layout.ts';

/** Facts that are shown outside of the list. */
const SHOWN_ELSEWHERE = new Set(['Payment', 'What that means', 'Profile', 'Token', 'Atomic amount']);

/** Page of a receipt, made of its audit document. `program` checks it in the browser. */
export function receiptPage(audit: JsonObject, program: string): string {
  const receipt = objectIn(audit.receipt);
  const facts = factsOfReceipt(claimsIn(receipt), receipt);
  const { Payment = '', 'What that means': means = '', Profile = '', Receipt = '' } = facts;
  const url = String(receipt.verify_url);
  return pageText(
    {
      title: `Receipt ${Receipt}`,
      kind: 'Spend receipt',
      sum: html`<span data-fact="Payment">${Payment}</span><p data-fact="What that means">${means}</p>`,
      profile: profileBanner(Profile),
      facts: [...factRows(facts, SHOWN_ELSEWHERE), ...(Profile === 'development' ? [] : [factRow('Profile', Profile)])],
      checks: checksIn(audit),
      proves: textsIn(audit.proves),
      does_not_prove: textsIn(audit.does_not_prove),
      beside: [laneList(objectIn(audit.lane), receipt), transferList(audit.transfer, facts)],
      links: [
        ['JSON', `${url}?format=json`],
        ['For auditors', `${url}?format=auditor`],
        ['Preimage', `${url}/preimage`],
        ['Keys', String(objectIn(receipt.verification).jwks_uri)],
      ],
      evidence: audit,
    },
    program,
  );
}

/** The claims of the signature of a document of this service. */
export function claimsIn({ issuer_signature }: JsonObject): JsonObject {
  return decodeJwt(String(objectIn(issuer_signature).jws)) as JsonObject;
}

export function checksIn({ checks }: JsonObject): { readonly name: string; readonly how: string }[] {
  const listed = Array.isArray(checks) ? checks.filter(isJsonObject) : [];
  return listed.map(({ check, how }) => ({ name: String(check), how: String(how) }));
}

export const objectIn = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

export const textsIn = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter(text => typeof text === 'string') : [];

/** Further facts, which are not signed. */
function laneList({ proof_outcome, settled_by, freeze, omission_rule }: JsonObject, { chain_ended }: JsonObject): Html {
  const facts: readonly (readonly [string, Json | undefined])[] = [
    ['Proof of the transfer', proof_outcome],
    ['Settled by', settled_by],
    ['Frozen', freeze === true ? 'yes: guaranteed by the issuer, and not settled while the log continued' : 'no'],
    ['Amount given up because', omission_rule],
    ['Chain', chain_ended === true ? 'the development chain that carried the payment is gone' : null],
  ];
  return html`<h2>Further information</h2><p class="quiet">This part is not signed, and may change.</p>
<dl>${facts.flatMap(([name, said]) => (said === null || said === undefined ? [] : [html`<dt>${name}</dt><dd>${said}</dd>`]))}</dl>`;
}

/** How to look up the transfer on its chain. */
function transferList(transfer: Json | undefined, signed: Readonly<Record<string, string>>): Html {
  if (!isJsonObject(transfer)) return html``;
  const { network, chain, rpc_method, tx_hash, log_index, expect } = transfer;
  const named = { Token: 'Token', 'Paid by': 'From', 'Paid to': 'To', 'Atomic amount': 'Atomic amount' };
  const facts = [
    ['Network', `${String(network)} (${String(chain)})`],
    ['Ask', `${String(rpc_method)} of ${String(tx_hash)}`],
    ['Log index', log_index],
    ['Expect', expect],
  ] as const;
  const rows = facts.flatMap(([name, said]) =>
    said === null || said === undefined ? [] : [html`<dt>${name}</dt><dd class="mono">${markCode(String(said))}</dd>`],
  );
  const expected = Object.entries(named).map(([name, label]) => factRow(name, signed[name] ?? '', label));
  return html`<h2>Look the transfer up</h2><p class="quiet">Any RPC node of the network can answer this.</p><dl>${[...rows, ...expected]}</dl>`;
}
