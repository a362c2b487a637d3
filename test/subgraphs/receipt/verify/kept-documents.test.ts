import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { issuedCheckpoint } from '../../../../subgraphs/receipt/verify/checkpoint-note.ts';
import { verifyCredential } from '../../../../subgraphs/receipt/verify/credential.ts';
import { documentIn } from '../../../../subgraphs/receipt/verify/document.ts';
import { envelopeIn } from '../../../../subgraphs/receipt/verify/envelope.ts';
import { verifyConsistency, verifyInclusion } from '../../../../subgraphs/receipt/verify/merkle-proof.ts';
import { verify, verifyPlace } from '../../../../subgraphs/receipt/verify/module.ts';
import { verifyStatement } from '../../../../subgraphs/receipt/verify/statement.ts';
import { type KeptDocument, keptDocuments, keptKeys, keptNamed } from '../../../harness/fixtures/signed-documents.ts';
import { altered, paths } from '../../../harness/receipt/issue.ts';

/*
 * Documents of every kind, as an earlier version of this service has signed them: whatever is changed since, each still
 * verifies, and with one bit flipped none of them does.
 */

interface Judged {
  readonly valid: boolean;
  /** Beginnings of the paths that nobody signed, or whose signature is broken beside one that holds. */
  readonly unsigned: readonly string[];
}

const judged = (valid: boolean, unsigned: readonly string[] = []): Judged => ({ valid, unsigned });

type Judge = (document: JsonObject, keys: JsonObject, kept: KeptDocument) => Judged | Promise<Judged>;

const bytes = (hex: Json | undefined) => Buffer.from(String(hex), 'hex');
const headOf = (note: string, keys: JsonObject) => issuedCheckpoint(note, keys);

/** @param within the member whose own members the report names, where that is not the document itself */
function reported(document: JsonObject, keys: JsonObject, within = ''): Judged {
  const { valid, report } = verify(document, keys);
  const { unsigned = { lane: [], unknown: [] }, broken = [] } = report ?? {};
  const named = [...unsigned.lane, ...unsigned.unknown, ...broken];
  return judged(valid, [...named, ...named.map(name => within + name)]);
}

const byModule: Judge = (document, keys) => reported(document, keys);

/** What stands in an audit document for its readers: the key set that verifies it here is another. */
const BESIDE_AUDITS = ['keys.', 'issuer_history.', 'receipt_policy.', 'log.'];

const beside = ({ valid, unsigned }: Judged) => judged(valid, [...unsigned, ...BESIDE_AUDITS]);

/** Of documents in JSON, by their kinds. */
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
  inclusion: ({ task_id: _, leaf_hash, leaf_index, tree_size, root_hash, path }, keys) => {
    const [head, size, root] = [headOf(keptNamed('checkpoint').text ?? '', keys), Number(tree_size), bytes(root_hash)];
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

/** Of documents in other forms. */
const textJudges: Readonly<Record<string, (text: string, keys: JsonObject, kept: KeptDocument) => unknown>> = {
  statement: (text, keys) => verifyStatement(Buffer.from(text, 'base64'), keys).kind === 'valid',
  credential: (text, keys) => verifyCredential(text, keys).kind === 'valid',
  checkpoint: (text, keys) => envelopeIn(Buffer.from(text))?.verify(keys).valid === true,
  log_proof: (text, keys, { of: name = '', verifier_keys = [] }) =>
    (envelopeIn(Buffer.from(text))?.verify(keys).valid ?? false) &&
    verifyPlace(keptNamed(name).document as JsonObject, text, { log_keys: verifier_keys }).valid,
  wallet_text: (text, keys, { signer = '', signature = '' }) => verify({ text, signer, signature }, keys).valid,
};

/** What nobody signs, and stands here for those that read it. */
const UNSIGNED = ['book', 'audit_pack', 'did'];

const keysOf = ({ keys = 'service' }: KeptDocument) => keptKeys[keys];

async function judge(kept: KeptDocument, document: Json, text: string): Promise<Judged> {
  const of_text = textJudges[kept.kind];
  if (of_text) return judged((await of_text(text, keysOf(kept), kept)) === true);
  const of_json = judges[kept.kind];
  if (!of_json) throw new Error(`nobody judges a ${kept.kind}`);
  // What cannot be read is not valid either.
  return (async () => of_json(document as JsonObject, keysOf(kept), kept))().catch(() => judged(false));
}

/** With the lowest bit of it flipped: of a text that of the letter in its middle. */
function flipped(old: Json): Json {
  if (typeof old === 'number') return old + 1;
  if (typeof old === 'boolean') return !old;
  const text = typeof old === 'string' ? old : 'null';
  const at = text.length >> 1;
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
}

/** Of a long document some: each is flipped in a shorter one of its kind. */
const sample = <T>(all: readonly T[]) => all.filter((_, index) => index % Math.ceil(all.length / 80) === 0);

describe('what an earlier version has signed', () => {
  const signed = keptDocuments.filter(({ kind }) => !UNSIGNED.includes(kind));

  it('is kept of each kind', () => {
    const kinds = new Set(signed.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual([...Object.keys(judges), ...Object.keys(textJudges)].sort());
    expect(signed.length).toBeGreaterThan(80);
  });

  it.each(signed.map(kept => [kept.name, kept] as const))(
    '%s still verifies, and altered does not',
    async (_, kept) => {
      const { text = '' } = kept;
      // An answer carries what was signed, beside what was not.
      const document = isJsonObject(kept.document) ? documentIn(kept.document) : (kept.document ?? null);
      const { valid, unsigned } = await judge(kept, document, text);
      expect(valid).toBe(true);
      if (kept.text !== undefined) {
        expect((await judge(kept, null, String(flipped(text)))).valid).toBe(false);
        return;
      }
      const passed = [];
      for (const path of sample(paths(document))) {
        const name = path.join('.');
        const again = await judge(kept, altered(document, path, flipped), '');
        if (again.valid && ![...unsigned, ...again.unsigned].some(each => name.startsWith(each))) passed.push(name);
      }
      expect(passed).toEqual([]);
    },
  );
});
