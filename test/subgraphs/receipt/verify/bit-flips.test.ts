import { describe, expect, it } from 'vitest';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { type VerifiedDocument, verify, verifyPlace } from '../../../../subgraphs/receipt/verify/module.ts';
import { verifierKey } from '../../../../subgraphs/receipt/verify/verifier-key.ts';
import { makeAuditDocument } from '../../../harness/receipt/audit-document.ts';
import { alter, issue, issuer, paths } from '../../../harness/receipt/issue.ts';
import { paidCall } from '../../../harness/vectors/receipt-facts.ts';

/*
 * Flips single bits of signed data. No document may then be valid. With SVC_TEST_EVERY_BIT=1 every bit is flipped, which takes some
 * minutes. Otherwise this is done for short data, and in longer data at least one bit of each byte is flipped.
 */

const receipt = await issue(paidCall);
const audit = await makeAuditDocument(paidCall);
const keys = issuer.jwks as JsonObject;
const at = (path: string) => path.split('.');
const valueAt = (document: Json, path: string): Json =>
  at(path).reduce<Json>((value, name) => (isJsonObject(value) ? (value[name] ?? null) : null), document);

const EVERY_BIT = process.env.SVC_TEST_EVERY_BIT === '1';
/**
 * Longest data in bytes of which all bits are flipped, because longer ones take minutes. In these one bit of each byte is flipped, and all
 * eight of each sixteenth byte.
 */
const WHOLE_BYTES_MAX = 130;

const isFlipped = (bit: number, bytes: number) =>
  EVERY_BIT || bytes <= WHOLE_BYTES_MAX || (bit >> 3) % 8 === (bit & 7) || (bit >> 3) % 16 === 0;

/** Copies of the bytes, each with one bit flipped. */
function* flips(bytes: Uint8Array): Generator<Buffer> {
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    if (!isFlipped(bit, bytes.length)) continue;
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield flipped;
  }
}

/** Number of altered texts, and those that are still valid. */
function passing(texts: Iterable<string>, verifies: (text: string) => boolean): { flipped: number; passed: string[] } {
  const passed: string[] = [];
  let flipped = 0;
  for (const text of texts) {
    flipped++;
    if (verifies(text)) passed.push(text);
  }
  return { flipped, passed };
}

function* encoded(bytes: Uint8Array, encode: (flipped: Buffer) => string): Generator<string> {
  for (const flipped of flips(bytes)) yield encode(flipped);
}

const withText = (path: string, text: Json, document = receipt) => alter(document, at(path), () => text) as JsonObject;

describe('one bit of a receipt flipped is no receipt any more', () => {
  const jws = String(valueAt(receipt, 'issuer_signature.jws'));

  it.each(['header', 'claims', 'signature'])('of its token’s %s', part => {
    const parts = jws.split('.');
    const place = ['header', 'claims', 'signature'].indexOf(part);
    const bytes = Buffer.from(parts[place] ?? '', 'base64url');
    const texts = encoded(bytes, flipped => parts.with(place, flipped.toString('base64url')).join('.'));
    const { flipped, passed } = passing(texts, text => verify(withText('issuer_signature.jws', text), keys).valid);
    expect(flipped).toBeGreaterThanOrEqual(bytes.length);
    expect(passed).toEqual([]);
  });

  it('of the token’s letters: no second spelling of the same bytes passes either', () => {
    const texts = encoded(Buffer.from(jws), flipped => flipped.toString('latin1'));
    expect(passing(texts, text => verify(withText('issuer_signature.jws', text), keys).valid).passed).toEqual([]);
  });

  it('of the payload in canonical form', () => {
    const bytes = Buffer.from(canonicalJson(receipt.payload ?? null));
    const texts = encoded(bytes, flipped => flipped.toString('latin1'));
    const { flipped, passed } = passing(texts, text => {
      const payload = parsed(text);
      return payload !== undefined && verify({ ...receipt, payload }, keys).valid;
    });
    expect(flipped).toBeGreaterThanOrEqual(bytes.length);
    expect(passed).toEqual([]);
  });

  it('of its raw value, every one', () => {
    const bytes = Buffer.from(String(valueAt(receipt, 'issuer_signature.value')), 'base64url');
    const texts = encoded(bytes, flipped => flipped.toString('base64url'));
    expect(passing(texts, text => verify(withText('issuer_signature.value', text), keys).valid)).toEqual({
      flipped: 512,
      passed: [],
    });
  });

  it.each<[name: 'signature' | 'co_signature', other: string, encoding: 'base64url' | 'hex']>([
    ['signature', 'co_signature', 'base64url'],
    ['co_signature', 'signature', 'hex'],
  ])('of its %s, every one: alone it fails, and beside the other it is named as broken', (name, other, encoding) => {
    const value = String(valueAt(receipt, `${name}.value`));
    const prefix = encoding === 'hex' ? '0x' : '';
    const bytes = Buffer.from(value.slice(prefix.length), encoding);
    const { [other]: _, ...alone } = receipt;
    const texts = encoded(bytes, flipped => prefix + flipped.toString(encoding));
    const { flipped, passed } = passing(texts, text => {
      const beside = verify(withText(`${name}.value`, text), keys);
      expect(beside.report?.broken).toEqual([name]);
      return verify(withText(`${name}.value`, text, alone), keys).valid;
    });
    expect(flipped).toBeGreaterThanOrEqual(bytes.length);
    expect(passed).toEqual([]);
  });
});

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

describe('one bit of the log’s evidence flipped is none any more', () => {
  const hashes = paths(audit.log ?? null)
    .map(path => ['log', ...path].join('.'))
    .filter(path =>
      /^log\.(inclusion\.path|consistency\.proof|anchor\.consistency\.proof)\.|(root_hash|leaf_hash|tree_head_hash)$/.test(
        path,
      ),
    );

  it.each(hashes)('of %s, every one', path => {
    const bytes = Buffer.from(String(hashAt(path)), 'hex');
    const texts = encoded(bytes, flipped => flipped.toString('hex'));
    expect(passing(texts, text => verify(withText(path, text, audit), keys).valid)).toEqual({
      flipped: 256,
      passed: [],
    });
  });

  const hashAt = (path: string): Json =>
    at(path).reduce<Json>((value, name) => (value as unknown as Record<string, Json>)[name] ?? null, audit);

  it.each(['log.head.jws', 'log.checkpoint', 'preimage'])('of %s, its letters', path => {
    const bytes = Buffer.from(String(hashAt(path)));
    const texts = encoded(bytes, flipped => flipped.toString('utf8'));
    const { flipped, passed } = passing(texts, text => verify(withText(path, text, audit), keys).valid);
    expect(flipped).toBeGreaterThanOrEqual(bytes.length);
    expect(passed).toEqual([]);
  });

  it('of a proof of C2SP’s, its letters', () => {
    const [text, [key = '']] = [String(hashAt('log.tlog_proof')), hashAt('log.verifier_keys') as string[]];
    expect(verifierKey(key)?.kind).toBe('signature');
    const place = (proof: string) => verifyPlace(receipt, proof, { log_keys: [key] });
    expect(place(text)).toMatchObject({ valid: true, leaf_index: 1, tree_size: 5 });
    const texts = encoded(Buffer.from(text), flipped => flipped.toString('utf8'));
    expect(passing(texts, proof => place(proof).valid).passed).toEqual([]);
  });
});

/** Another value of the same type. */
const other = (old: Json): Json => {
  if (typeof old === 'string') return `${old}x`;
  if (typeof old === 'number') return old + 1;
  return typeof old === 'boolean' ? !old : 'x';
};

describe('what nobody signed', () => {
  const reported = ({ report }: VerifiedDocument) => [
    ...(report?.unsigned.lane ?? []),
    ...(report?.unsigned.unknown ?? []),
    ...(report?.broken ?? []),
  ];

  it('fails, or is reported as unsigned or broken, wherever it is changed, and is never passed as proven', () => {
    const unsigned: string[] = [];
    for (const path of paths(receipt)) {
      const said = verify(alter(receipt, path, other) as JsonObject, keys);
      if (!said.valid) continue;
      const name = path.join('.');
      expect(
        reported(said).some(known => name.startsWith(known)),
        name,
      ).toBe(true);
      unsigned.push(name);
    }
    // Unsigned are the members of the two signatures, those that are computed when shown, and the sentence on how to verify.
    expect(unsigned).toEqual(expect.arrayContaining(['signature.value', 'binding.in_proof', 'verification.how']));
  });
});
