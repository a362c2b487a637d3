import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitNote } from '../../../../subgraphs/receipt/verify/note.ts';
import { checkpointHead, openCheckpoint, openNote } from '../../../../subgraphs/receipt/verify/open-checkpoint.ts';
import { type VerifierKey, verifierKey } from '../../../../subgraphs/receipt/verify/verifier-key.ts';
import { cosignatureTime, NoteKey } from '../../../harness/log/note.ts';

/** The example of https://c2sp.org/signed-note. */
const c2sp = {
  key: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
  note: 'This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
};

/** The example of Go's golang.org/x/mod/sumdb/note. */
const go = {
  key: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  note: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n",
};

/** The example of https://c2sp.org/tlog-cosignature, whose keys are not published. */
const cosigned = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
\u2014 witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
`;

function keyOf(text: string): VerifierKey {
  const key = verifierKey(text);
  if (key === null) throw new Error(`no verifier key: ${text}`);
  return key;
}

/** Text of these bytes. Null if they are not UTF-8. */
function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

const log = new NoteKey('log.example/one');
const witness = new NoteKey('witness.example/w1', 4);
const keys = [log, witness].map(({ verifier_key }) => keyOf(verifier_key));
const root = Buffer.alloc(32, 7).toString('base64');
const body = `log.example/one\n9\n${root}\n`;
const note = `${body}\n${log.sign(body)}${witness.sign(body, 1_700_000_000)}`;

describe('a signed note', () => {
  it.each([
    ['C2SP', c2sp],
    ['Go', go],
  ])('as %s publishes it opens by its key', (_name, { key, note: published }) => {
    expect(openNote(published, [keyOf(key)])).toMatchObject({ kind: 'signed' });
  });

  it('tells who of those that are known has signed, and when a witness did', () => {
    const opened = openNote(note, keys);
    expect(opened).toMatchObject({ kind: 'signed', text: body });
    const told = opened.kind === 'signed' ? opened.signatures.map(({ key, timestamp }) => [key.name, timestamp]) : [];
    expect(told).toEqual([
      ['log.example/one', null],
      ['witness.example/w1', 1_700_000_000],
    ]);
    expect(cosignatureTime(note, witness.verifier_key)).toBe(1_700_000_000);
  });

  it('ignores signatures of keys that are not known, also under a name that is', () => {
    const namesake = new NoteKey('log.example/one');
    expect(openNote(`${note}${namesake.sign(body)}`, keys)).toMatchObject({ kind: 'signed' });
    expect(openNote(`${body}\n${namesake.sign(body)}`, keys)).toEqual({ kind: 'unsigned' });
  });

  it('is refused whole where a known key did not make its signature', () => {
    const other = 'log.example/one\n8\n';
    expect(openNote(`${body}\n${log.sign(other)}${witness.sign(body, 1)}`, keys)).toMatchObject({ kind: 'forged' });
    expect(openNote(`${note}${witness.sign(body, 0)}`, keys)).toMatchObject({ kind: 'forged' });
  });

  it('any bit of it that is flipped leaves the known signatures, or none: never another text', () => {
    const bytes = Buffer.from(note);
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), at => {
        const flipped = Buffer.from(bytes);
        flipped[at >> 3] = (flipped[at >> 3] ?? 0) ^ (1 << (at & 7));
        const text = utf8(flipped);
        const opened = text === null ? null : openNote(text, keys);
        if (opened?.kind === 'signed') expect([opened.text, opened.signatures.length]).toEqual([body, 1]);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['nothing', ''],
    ['no signature', body],
    ['no signature behind the empty line', `${body}\n`],
    ['no line feed at its end', note.slice(0, -1)],
    ['a control character', note.replace('one', 'o\tne')],
    ['a plus in a name', `${body}\n${log.sign(body).replace('log.', 'log+')}`],
    ['a space in a name, as Unicode has it', `${body}\n${log.sign(body).replace('log.', 'log\u0085')}`],
    ['base64 that does not encode back', `${body}\n\u2014 n QUJDQUI=\n\u2014 n QUJDQUJ=\n`],
    ['a key id and nothing behind it', `${body}\n\u2014 n QUJDRA==\n`],
    ['half a surrogate', note.replace('one', '\ud800')],
    ['65 signatures', `${body}\n${log.sign(body).repeat(65)}`],
    ['more bytes than are read', `${'x'.repeat(128 * 1024)}\n${note}`],
  ])('%s is none', (_why, text) => {
    expect(splitNote(text)).toBeNull();
    expect(openNote(text, keys)).toEqual({ kind: 'malformed' });
  });

  it('may hold empty lines, 64 signatures, and anything that is no control character of ASCII', () => {
    const text = 'one\n\n\u007f two \u00e9\n';
    expect(splitNote(`${text}\n${log.sign(text).repeat(64)}`)).toMatchObject({ text });
  });
});

describe('a verifier key', () => {
  it.each([
    ['an id of another name', log.verifier_key.replace('one', 'two')],
    ['another type', 'example.com/foo+530d903a+BekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'],
    ['too short', 'example.com/foo+530d903a+AekyeRrm'],
    ['an id in capitals', c2sp.key.replace('530d903a', '530D903A')],
    ['nothing', ''],
  ])('with %s is none', (_why, text) => {
    expect(verifierKey(text)).toBeNull();
  });
});

describe('a checkpoint', () => {
  it('of C2SP names origin, size and root, and the time of its cosignature', () => {
    const split = splitNote(cosigned);
    expect(checkpointHead(split?.text ?? '')).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20852163 });
    expect(split?.signatures[1]?.signature.readBigUInt64BE()).toBe(1679315147n);
    expect(split?.signatures.map(({ key_id }) => key_id.toString('hex'))).toEqual(['033de0ae', '8d66cf3f']);
  });

  it('opens by its keys; further lines are signed and say nothing', () => {
    const longer = `${body}further\n`;
    expect(openCheckpoint(`${longer}\n${log.sign(longer)}`, keys)).toMatchObject({
      kind: 'signed',
      head: { origin: 'log.example/one', size: 9 },
    });
  });

  it.each([
    'log\n01\nr\n',
    'log\n-1\nr\n',
    'log\n9007199254740993\nr\n',
    '\n1\nr\n',
    'log\n1\n',
    'log\n1\nQUJD\n',
    'log\n1\nr\n\nx\n',
  ])('is none: %j', text => {
    const whole = text.replace('r', root);
    expect(checkpointHead(whole)).toBeNull();
    expect(openCheckpoint(`${whole}\n${log.sign(whole)}`, keys)).toEqual({ kind: 'malformed' });
  });
});
