import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { noteSigner } from '../../../../subgraphs/receipt/issuer/signers.ts';
import { openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { openNote } from '../../../harness/log/note.ts';

/** The example of https://c2sp.org/signed-note. */
const c2sp = {
  key: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
  note: 'This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
};

/** The example of Go's golang.org/x/mod/sumdb/note, with its published secret. */
const go = {
  name: 'PeterNeumann',
  secret: 'AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  key: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature: 'x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=',
};

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function signerOf(secret: Buffer) {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, secret]), format: 'der', type: 'pkcs8' });
  return noteSigner([{ ed25519: { key, kid: '', jwk: { x: key.export({ format: 'jwk' }).x ?? '' } } }]);
}

describe('signed notes', () => {
  it("are Go's, byte for byte: the published secret gives the published verifier key and note", () => {
    const signer = signerOf(Buffer.from(go.secret, 'base64').subarray(1));
    expect(signer.verifierKeys(go.name)).toEqual([go.key]);
    expect(signer.signNote(go.name, go.text)).toBe(`${go.text}\n\u2014 ${go.name} ${go.signature}\n`);
  });

  it("are read by C2SP's text alone: its example opens, and no other text does under its signature", () => {
    expect(openNote(c2sp.note, c2sp.key)).toBe('This is an example message.\n');
    expect(() => openNote(c2sp.note.replace('example message', 'other message'), c2sp.key)).toThrow(
      'invalid signature',
    );
  });

  it('are signed by each configured seed, so that whoever knows the older key goes on through a rotation', () => {
    const options = { base_url: 'https://svc.example', now_ms: () => 0 };
    const before = openIssuer(['22'.repeat(32)], options);
    const after = openIssuer(['33'.repeat(32), '22'.repeat(32)], options);
    const [old_key = ''] = before.verifierKeys('svc.example/log');
    const note = after.signNote('svc.example/log', 'svc.example/log\n0\n\n');
    expect(after.verifierKeys('svc.example/log')[1]).toBe(old_key);
    for (const key of after.verifierKeys('svc.example/log')) expect(openNote(note, key)).toContain('svc.example/log');
    // The name is part of the key's id, so the same key under another name verifies nothing.
    expect(() => openNote(note, before.verifierKeys('svc.example/other')[0] ?? '')).toThrow('not signed by this key');
  });
});
