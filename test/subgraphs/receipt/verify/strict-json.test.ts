import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strictJson } from '../../../../subgraphs/receipt/verify/read-document.ts';

const bytes = (text: string) => Buffer.from(text);

describe('a JSON object that is read to be verified', () => {
  it('is what JSON.parse says, of any document', () => {
    const document = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ noUnicodeString: false }));
    fc.assert(
      fc.property(document, fc.constantFrom(0, 1), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(strictJson(bytes(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['a member twice', '{"amount":"1","amount":"2000"}'],
    ['it twice below', '{"a":[{"b":{"c":1,"d":2,"c":1}}]}'],
    ['it twice, spelled in two ways', '{"amount":"1","\\u0061mount":"2000"}'],
    ['__proto__ twice', '{"__proto__":1,"__proto__":{"a":1}}'],
    ['no object', '[1]'],
    ['text behind it', '{}{}'],
    ['a byte order mark', '\ufeff{}'],
  ])('is none with %s', (_, text) => {
    expect(strictJson(bytes(text))).toBeNull();
  });

  it('is none in bytes that are no UTF-8: a reader would be shown what nobody has signed', () => {
    expect(strictJson(Buffer.concat([bytes('{"a":"'), Buffer.from([0xff]), bytes('"}')]))).toBeNull();
    expect(strictJson(Buffer.concat([bytes('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), bytes('"}')]))).toBeNull();
  });

  it('may be as deep as it is long', () => {
    const deep = (inner: string) => `{"a":${'['.repeat(100_000)}${inner}${']'.repeat(100_000)}}`;
    expect(strictJson(bytes(deep('{"b":1}')))).not.toBeNull();
    expect(strictJson(bytes(deep('{"b":1,"b":1}')))).toBeNull();
  });
});
