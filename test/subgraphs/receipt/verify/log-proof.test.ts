import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitProof, verifyLogProof } from '../../../../subgraphs/receipt/verify/log-proof.ts';
import { type VerifierKey, verifierKey } from '../../../../subgraphs/receipt/verify/verifier-key.ts';
import { encode, NoteKey } from '../../../harness/log/note.ts';
import { TestLog } from '../../../harness/log/test-log.ts';

const log = new TestLog('log.example/one').grow(9);
const witness = new NoteKey('witness.example/w1', 4);

function keyOf({ verifier_key }: NoteKey): VerifierKey {
  const key = verifierKey(verifier_key);
  if (key === null) throw new Error('no verifier key');
  return key;
}

const proofOf = (index: number, from = log, extra: readonly string[] = []): string =>
  from.proof(index, witness.sign(from.body(), 1_700_000_000), extra);

const leaf = log.leaves[5] ?? Buffer.alloc(0);
const wanted = { leaf, log_keys: log.keys.map(keyOf), witnesses: [keyOf(witness)] };

describe('a proof of the log', () => {
  it('holds for its leaf, its log and its witness, and says what it checked', () => {
    const verified = verifyLogProof(proofOf(5), wanted);
    expect(verified).toMatchObject({ kind: 'valid', index: 5, size: 9 });
    expect(verified.checks.map(({ sentence }) => sentence).join(' ')).toContain('witness.example/w1');
  });

  it('for every leaf of every tree, and no other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), fc.nat(), (size, one, other) => {
        const tree = new TestLog(log.origin, log.keys).grow(size);
        const [index, wrong] = [one % size, other % size];
        const of = (at: number) => verifyLogProof(proofOf(index, tree), { ...wanted, leaf: tree.leaves[at] ?? leaf });
        expect(of(index).kind).toBe('valid');
        if (wrong !== index) expect(of(wrong)).toMatchObject({ kind: 'invalid', code: 'inclusion_invalid' });
      }),
    );
  });

  it.each([
    ['another log', { log_keys: [keyOf(new NoteKey('log.example/one'))] }, 'checkpoint_invalid'],
    ['a key that is not named by the origin', { log_keys: [keyOf(witness)] }, 'checkpoint_invalid'],
    ['another leaf', { leaf: log.leaves[4] ?? leaf }, 'inclusion_invalid'],
    ['another witness', { witnesses: [keyOf(new NoteKey('witness.example/w1', 4))] }, 'witness_missing'],
    ['one more witness', { witnesses: [keyOf(witness), keyOf(new NoteKey('w2', 4))] }, 'witness_missing'],
  ])('is none for %s', (_what, other, code) => {
    expect(verifyLogProof(proofOf(5), { ...wanted, ...other })).toMatchObject({ kind: 'invalid', code });
  });

  it('with a cosignature of another head is none', () => {
    const forged = proofOf(5).replace(/\u2014 witness.*\n$/, witness.sign(log.body(8), 1));
    expect(verifyLogProof(forged, wanted)).toMatchObject({ kind: 'invalid', code: 'checkpoint_invalid' });
  });

  it('may carry what nobody vouches for', () => {
    expect(splitProof(proofOf(5, log, ['extra QUJD']))).toMatchObject({ extra: Buffer.from('ABC'), index: 5 });
  });

  it.each([
    ['another header', proofOf(5).replace('v1', 'v2')],
    ['an index with a zero before it', proofOf(5).replace('index 5', 'index 05')],
    ['no index', proofOf(5).replace('index 5\n', '')],
    ['a hash that is too short', proofOf(5).replace('index 5', 'index 5\nQUJD')],
    ['extra that is no base64', proofOf(5, log, ['extra ?'])],
    ['64 hashes', proofOf(5).replace('index 5', `index 5${`\n${encode(leaf)}`.repeat(60)}`)],
    ['nothing', ''],
  ])('with %s is malformed', (_why, text) => {
    expect(verifyLogProof(text, wanted)).toMatchObject({ kind: 'invalid', code: 'malformed' });
  });
});
