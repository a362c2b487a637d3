import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { walletClaimText } from '../../../../schema/inflow-claim.ts';
import { sessionDomain, sessionTypes } from '../../../../schema/session/typed-data.ts';
import {
  registerText,
  type SignedText,
  type SignedWord,
  signedText,
  signedWords,
} from '../../../../schema/signed-words.ts';
import { issuedCheckpoint } from '../../../../subgraphs/receipt/verify/checkpoint-note.ts';
import { verifyCredential } from '../../../../subgraphs/receipt/verify/credential.ts';
import { documentIn } from '../../../../subgraphs/receipt/verify/document.ts';
import { envelopeIn } from '../../../../subgraphs/receipt/verify/envelope.ts';
import { verifyConsistency, verifyInclusion } from '../../../../subgraphs/receipt/verify/merkle-proof.ts';
import { verify, verifyPlace } from '../../../../subgraphs/receipt/verify/module.ts';
import { verifyStatement } from '../../../../subgraphs/receipt/verify/statement.ts';
import { type FixtureDocument, type FixtureSet, fixtureSets } from '../../../harness/fixtures/signed-documents.ts';
import { alter, paths } from '../../../harness/receipt/issue.ts';

/*
 * Documents of every kind that former versions of this service have signed. Each must still verify, and none with one bit flipped. The
 * texts and typed data that wallets signed must still be made in the same way.
 */

interface Judged {
  readonly valid: boolean;
  /** Prefixes of the paths of members that are not signed, or whose signature is invalid while another one is valid. */
  readonly unsigned: readonly string[];
}

const judged = (valid: boolean, unsigned: readonly string[] = []): Judged => ({ valid, unsigned });

type Judge = (
  document: JsonObject,
  keys: JsonObject,
  kept: FixtureDocument,
  set: FixtureSet,
) => Judged | Promise<Judged>;

const bytes = (hex: Json | undefined) => Buffer.from(String(hex), 'hex');
const headOf = (note: string, keys: JsonObject) => issuedCheckpoint(note, keys);

/** @param within path of the member whose members the report names, if it is not the document itself */
function reported(document: JsonObject, keys: JsonObject, within = ''): Judged {
  const { valid, report } = verify(document, keys);
  const { unsigned = { lane: [], unknown: [] }, broken = [] } = report ?? {};
  const named = [...unsigned.lane, ...unsigned.unknown, ...broken];
  return judged(valid, [...named, ...named.map(name => within + name)]);
}

const byModule: Judge = (document, keys) => reported(document, keys);

/** Members of an audit document that are not checked here, because the test verifies it with another key set. */
const BESIDE_AUDITS = ['keys.', 'issuer_history.', 'receipt_policy.', 'log.'];

const beside = ({ valid, unsigned }: Judged) => judged(valid, [...unsigned, ...BESIDE_AUDITS]);

/** Functions that judge JSON documents, by kind. */
const judges: Readonly<Record<string, Judge>> = {
  receipt: byModule,
  refusal: byModule,
  export: byModule,
  receipt_audit: (document, keys) => beside(reported(document, keys, 'receipt.')),
  refusal_audit: (document, keys) => {
    const { valid, unsigned } = reported(document, keys, 'refusal.');
    return judged(valid, [...unsigned, 'keys.']);
  },
  inflow: byModule,
  verdict: byModule,
  reconciliation: byModule,
  totals: byModule,
  ingest_answer: (document, keys) => {
    const { valid, unsigned } = reported(document, keys);
    return judged(valid, [...unsigned, 'signature.scope', 'issuer_signature.']);
  },
  allowance: byModule,
  inclusion: ({ task_id: _, leaf_hash, leaf_index, tree_size, root_hash, path }, keys, _kept, set) => {
    const [head, size, root] = [headOf(set.named('checkpoint').text ?? '', keys), Number(tree_size), bytes(root_hash)];
    const claim = { leaf: bytes(leaf_hash), leaf_index: Number(leaf_index), size, root };
    const included = verifyInclusion(claim, Array.isArray(path) ? path.map(bytes) : []);
    return judged(head?.size === size && head.root.equals(root) && included, ['task_id']);
  },
  consistency: (proof, keys, { checkpoints = [] }) => {
    const [old, head] = checkpoints.map(note => headOf(note, keys));
    if (!old || !head) return judged(false);
    const claim = { old_size: old.size, old_root: old.root, size: head.size, root: head.root };
    return judged(verifyConsistency(claim, Object.values(proof).map(bytes)));
  },
  offer: byModule,
  payment_response: byModule,
  issuer_history: (document, keys) => {
    const { valid, unsigned } = reported(document, keys);
    return judged(valid, [...unsigned, 'issuer_signature.']);
  },
  receipt_policy_history: (document, keys) => {
    const { valid, unsigned } = reported(document, keys);
    return judged(valid, [...unsigned, 'policies.', 'issuer_signature.alg']);
  },
  agent_card: byModule,
  revocations: byModule,
  typed_data: (typed, keys, { signer = '', signature = '0x' }) => reported({ ...typed, signer, signature }, keys),
};

/** Functions that judge other documents, by kind. */
const textJudges: Readonly<
  Record<string, (text: string, keys: JsonObject, kept: FixtureDocument, set: FixtureSet) => unknown>
> = {
  statement: (text, keys) => verifyStatement(Buffer.from(text, 'base64'), keys).kind === 'valid',
  credential: (text, keys) => verifyCredential(text, keys).kind === 'valid',
  checkpoint: (text, keys) => envelopeIn(Buffer.from(text))?.verify(keys).valid === true,
  log_proof: (text, keys, { of: name = '', verifier_keys = [] }, set) =>
    (envelopeIn(Buffer.from(text))?.verify(keys).valid ?? false) &&
    verifyPlace(set.named(name).document as JsonObject, text, { log_keys: verifier_keys }).valid,
  wallet_text: (text, keys, { signer = '', signature = '' }) => verify({ text, signer, signature }, keys).valid,
};

/** Kinds of unsigned documents, which are stored here for the commands that read them. */
const UNSIGNED = ['book', 'audit_pack', 'did'];

async function judge(set: FixtureSet, kept: FixtureDocument, document: Json, text: string): Promise<Judged> {
  const keys = set.keys[kept.keys ?? 'service'] ?? {};
  const of_text = textJudges[kept.kind];
  if (of_text) return judged((await of_text(text, keys, kept, set)) === true);
  const of_json = judges[kept.kind];
  if (!of_json) throw new Error(`nobody judges a ${kept.kind}`);
  // A document that cannot be read is not valid.
  return (async () => of_json(document as JsonObject, keys, kept, set))().catch(() => judged(false));
}

/** The value with its lowest bit flipped. In a text the character in the middle is changed. */
function flipped(old: Json): Json {
  if (typeof old === 'number') return old + 1;
  if (typeof old === 'boolean') return !old;
  const text = typeof old === 'string' ? old : 'null';
  const at = text.length >> 1;
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
}

/** A sample of a long document's members. The others are flipped in a shorter document of its kind. */
const sample = <T>(all: readonly T[]) => all.filter((_, index) => index % Math.ceil(all.length / 80) === 0);

/** Different numbers of policies or rules in a set. */
const versions = (set: FixtureSet, kind: string, of: (document: JsonObject) => Json | undefined) => [
  ...new Set(set.documents.filter(kept => kept.kind === kind).map(kept => of(documentIn(kept.document as JsonObject)))),
];
const policyOf = ({ payload }: JsonObject) => (payload as { receipt_policy?: JsonObject }).receipt_policy?.version;

describe.each<[name: keyof typeof fixtureSets, policies: number[], rules: number[], count: number]>([
  ['first', [7, 8], [1, 2], 80],
  ['second', [9], [4], 70],
])('what a former version has signed: the %s set', (name, policies, rules, count) => {
  const set = fixtureSets[name];
  const signed = set.documents.filter(({ kind }) => !UNSIGNED.includes(kind));

  it('has each kind', () => {
    const kinds = new Set(signed.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual([...Object.keys(judges), ...Object.keys(textJudges)].sort());
    expect(signed.length).toBeGreaterThan(count);
  });

  it(`is of receipt policies ${policies} and dispute rules ${rules}`, () => {
    expect(versions(set, 'receipt', policyOf).sort()).toEqual(policies);
    expect(versions(set, 'verdict', ({ rule_version }) => rule_version).sort()).toEqual(rules);
  });

  it.each(signed.map(kept => [kept.name, kept] as const))(
    '%s still verifies, and altered does not',
    async (_, kept) => {
      const { text = '' } = kept;
      // An answer contains the signed document together with unsigned members.
      const document = isJsonObject(kept.document) ? documentIn(kept.document) : (kept.document ?? null);
      const { valid, unsigned } = await judge(set, kept, document, text);
      expect(valid).toBe(true);
      if (kept.text !== undefined) {
        expect((await judge(set, kept, null, String(flipped(text)))).valid).toBe(false);
        return;
      }
      const passed = [];
      for (const path of sample(paths(document))) {
        const name = path.join('.');
        const again = await judge(set, kept, alter(document, path, flipped), '');
        if (again.valid && ![...unsigned, ...again.unsigned].some(each => name.startsWith(each))) passed.push(name);
      }
      expect(passed).toEqual([]);
    },
  );
});

/** The text that the current version makes. */
function textMade(base_url: string, word: SignedWord, parts: JsonObject): string {
  if (word === 'inflow' || word === 'correction') return walletClaimText(word, parts);
  if (word === 'register_pay' || word === 'register_recover') return registerText(word, parts as never);
  return signedText(word as SignedText, base_url, parts as never);
}

describe('what wallets have signed', () => {
  const { documents, base_url } = fixtureSets.second;

  it('are the texts that this version makes of the same parts, each of its table once', () => {
    const texts = documents.flatMap(({ text, made_of }) => (made_of ? [{ text, ...made_of }] : []));
    for (const { text, word, parts } of texts) expect(textMade(base_url, word, parts)).toBe(text);
    const typed = Object.keys(sessionTypes);
    expect(texts.map(({ word }) => word).sort()).toEqual(
      Object.keys(signedWords)
        .filter(word => !typed.includes(word))
        .sort(),
    );
  });

  it('are typed data of the domain and types that this version publishes', () => {
    const typed = documents.filter(({ kind }) => kind === 'typed_data').map(({ document }) => document as JsonObject);
    expect(typed.map(({ primaryType }) => primaryType).sort()).toEqual(Object.keys(sessionTypes).sort());
    for (const { domain, types, primaryType } of typed) {
      const name = primaryType as keyof typeof sessionTypes;
      expect(domain).toEqual(sessionDomain(base_url));
      expect(types).toEqual({ [name]: sessionTypes[name] });
    }
  });
});
