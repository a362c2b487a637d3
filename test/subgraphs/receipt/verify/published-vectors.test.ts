import { describe, expect, it } from 'vitest';
import { tileAddress } from '../../../../subgraphs/receipt/log/tiles.ts';
import { splitProof } from '../../../../subgraphs/receipt/verify/log-proof.ts';
import { openCheckpoint, openNote } from '../../../../subgraphs/receipt/verify/open-checkpoint.ts';
import { base64url, parseJws, verifyEs256 } from '../../../../subgraphs/receipt/verify/signature.ts';
import { verifierKey } from '../../../../subgraphs/receipt/verify/verifier-key.ts';
import { isEs256 as isEs256BySecond, tokenIn } from '../../../harness/second-verifier/signatures.ts';
import { es256 } from '../../../harness/vectors/rfc7515.ts';

/* Published vectors, checked by each of the verifiers. */

describe('RFC 7515 A.3', () => {
  // The RFC's key has no kid and neither has its header, but our code looks keys up by kid.
  const keys = { keys: [{ ...es256.key, kid: 'A.3' }] };
  const [head = '', body = '', tail = ''] = es256.compact.split('.');

  it('is split into the header and the claims that it prints, and signed by its key', () => {
    const jws = parseJws(es256.compact);
    if (jws === null) throw new Error('not split');
    expect(base64url(head)?.toString()).toBe(es256.header);
    expect(base64url(body)?.toString()).toBe(es256.claims);
    expect([jws.header, jws.claims]).toEqual([{ alg: 'ES256' }, JSON.parse(es256.claims)]);
    expect(verifyEs256(keys, 'A.3', jws.input, jws.signature)).toBe(true);
    expect(verifyEs256(keys, 'A.3', `${jws.input}x`, jws.signature)).toBe(false);
  });

  it('verifies by the second verifier', () => {
    const { input } = parseJws(es256.compact) ?? { input: '' };
    expect(isEs256BySecond(keys, 'A.3', input, tokenIn(es256.compact)?.signature ?? null)).toBe(true);
  });

  it('with one letter of the signature changed verifies by none of them', () => {
    const forged = `${head}.${body}.${tail.startsWith('D') ? 'E' : 'D'}${tail.slice(1)}`;
    const [jws, second] = [parseJws(forged), tokenIn(forged)];
    expect(verifyEs256(keys, 'A.3', jws?.input ?? '', jws?.signature ?? null)).toBe(false);
    expect(isEs256BySecond(keys, 'A.3', second?.input ?? '', second?.signature ?? null)).toBe(false);
  });
});

describe('Go’s sumdb/note', () => {
  const key = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
  const note = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.

\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`;

  it('its example opens under its key, and as no checkpoint', () => {
    const known = verifierKey(key);
    if (known === null) throw new Error('no key');
    expect(openNote(note, [known])).toMatchObject({ kind: 'signed', signatures: [{ key: { name: 'PeterNeumann' } }] });
    expect(openNote(note.replace('answer', 'question'), [known]).kind).toBe('forged');
    expect(openCheckpoint(note, [known]).kind).toBe('malformed');
  });
});

describe('C2SP tlog-tiles and tlog-proof', () => {
  it.each([
    ['0', 'x001/x234/067', 1_234_067, 256],
    ['0', 'x001/x234/067.p/1', 1_234_067, 1],
    ['1', '000', 0, 256],
  ])('tile/%s/%s is the tile that the text says', (level, path, index, width) => {
    expect(tileAddress(level, path)).toEqual({ level: Number(level), index, width });
  });

  it.each(['x001/234/067', '1234067', 'x1/067', '067.p/256', '067.p/0', '067.p/01'])('%s is none', path => {
    expect(tileAddress('0', path)).toBeNull();
  });

  it('a proof without its header is none', () => {
    expect(splitProof('index 0\n\nexample.com/log\n1\nAA==\n')).toBeNull();
  });
});
