import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { issuerLinks, refusalUrl } from '../../../schema/links.ts';
import { networks } from '../../../schema/network.ts';
import { refusalCodes } from '../../../schema/policy-rule.ts';
import { wordList } from '../../../schema/words.ts';
import { linkFault, linksWithin, type ShownLink } from './addresses.ts';
import { type TokenDocument, verifyTokenDocument } from './issuer-document.ts';
import { always, type Coverage, type DocumentVerification, unsignedIn } from './report.ts';
import type { Report } from './result.ts';
import type { Jwks } from './signature.ts';
import { issuerSigned, type Rule, rawValueSigns, unless } from './signed-document.ts';

/**
 * Verifies a public refusal, or the 403 that contains it, against a published key set, offline. It proves that the issuer refused that call
 * at that anchor for that code. Whether the anchor is a block of Base can only be checked on Base.
 */
export function verifyRefusal(
  document: JsonObject,
  jwks: Jwks,
  options: { readonly base_url?: string } = {},
): DocumentVerification {
  const missing = 'This is not a refusal: issuer_signature.jws is missing.';
  return verifyTokenDocument(document, jwks, options, { noun: 'refusal', missing, rules, reportOn });
}

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<TokenDocument>[] = [
  ...issuerSigned,
  {
    code: 'not_a_refusal',
    says: 'The signed claims are a refusal: a known refusal code, the network Base, and nothing charged.',
    fault: ({ payload, jti }) =>
      unless(
        payload.schema === documents.refusal &&
          jti === payload.refusal_id &&
          payload.charged === false &&
          payload.chain_id === networks.base.chain_id &&
          wordList(refusalCodes).some(code => code === payload.refusal_code) &&
          isAnchor(payload.base_anchor),
        'The signed claims are not a refusal of a known form.',
      ),
  },
  {
    code: 'copy_mismatch',
    says: 'Every member that repeats a signed claim has the same value, and no other members claim to be signed.',
    fault: ({ document, payload }) => copyFault(document, payload),
  },
  rawValueSigns({ required: true }),
  {
    code: 'link_foreign',
    says: 'Every link points to the issuer.',
    fault: opened => linkFault(linksIn(opened), opened.addresses),
  },
];

function isAnchor(anchor: Json | undefined): boolean {
  if (!isJsonObject(anchor)) return false;
  if (anchor.status === 'UNAVAILABLE') return Object.keys(anchor).length === 1;
  return (
    anchor.status === 'AVAILABLE' && typeof anchor.block_number === 'number' && typeof anchor.block_hash === 'string'
  );
}

/** Unsigned members of the problem (RFC 9457) of a refused call. */
const problem = ['type', 'title', 'status', 'detail', 'code', 'error'];

/** Members of a document that are not part of the signed payload. */
const around = new Set(['refusal_url', 'issuer_signature', 'verification', ...problem]);

const coverage: Coverage<TokenDocument> = {
  refusal_url: always,
  'verification.jwks_uri': always,
  'verification.issuer_history_uri': always,
  'issuer_signature.jws': always,
  'issuer_signature.kid': always,
  'issuer_signature.value': always,
  'issuer_signature.alg': always,
};

const lane = new Set(['verification.how', ...problem]);

/** What a refusal that has passed every rule leaves open. All of its signatures are needed, so none of them is broken. */
function reportOn(opened: TokenDocument): Report {
  const { document, payload } = opened;
  const around_it = Object.fromEntries(Object.entries(document).filter(([name]) => !Object.hasOwn(payload, name)));
  const anchored = isJsonObject(payload.base_anchor) && payload.base_anchor.status === 'AVAILABLE';
  return {
    unsigned: unsignedIn(around_it, opened, { coverage, lane }),
    broken: [],
    unchecked: [
      ...(anchored ? ['Whether base_anchor is a block of Base: look its block hash up there.'] : []),
      `Whether row ${String(payload.policy_blocked_seq)} of book ${String(payload.agent_id)} agrees with the refusal.`,
    ],
  };
}

function copyFault(document: JsonObject, payload: JsonObject): string | null {
  for (const [name, signed] of Object.entries(payload)) {
    const copy = document[name];
    if (copy === undefined || canonicalJson(copy) !== canonicalJson(signed)) return `${name} is not what was signed.`;
  }
  const unsigned = Object.keys(document).find(name => !Object.hasOwn(payload, name) && !around.has(name));
  return unsigned === undefined ? null : `${unsigned} was not signed.`;
}

function linksIn({ document, payload }: TokenDocument): readonly ShownLink[] {
  const path = refusalUrl('', String(payload.refusal_id));
  return [
    { name: 'refusal_url', link: document.refusal_url, path },
    ...linksWithin(document.verification, issuerLinks('')),
  ];
}
