import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { systemRandom } from './clock.ts';

/** Encrypts what must be stored and read again (stored answers, webhook secrets, router keys): AES-256-GCM. */
export interface Vault {
  /** `label` binds the box to its place: a box moved to another row does not open. */
  seal(plain: Uint8Array | string, label: string): Buffer;
  /** @throws if the box was altered or made for another label. */
  open(box: Uint8Array, label: string): Buffer;
  /**
   * The same text and label have the same mark, which says nothing about the text to a reader without the secret (HMAC-SHA256, 128 bits of
   * it, base64url). For what must be recognised but not stored, such as an address or a caller's key.
   */
  mark(text: string, label: string): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MARK_BYTES = 16;

/** `secret` is SEAL_KEY; its use as key material goes through HKDF (RFC 5869), so any length serves. */
export function openVault(secret: string): Vault {
  // As a key object: for bytes, Node checks the type each time, which costs more than the sealing.
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'svc.vault.v1', 32)));
  const marking = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'svc.vault.mark.v1', 32)));
  return {
    seal(plain, label) {
      const nonce = systemRandom.bytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(label));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(box, label) {
      const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(label));
      decipher.setAuthTag(box.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    },
    // JSON delimits the label.
    mark: (text, label) =>
      createHmac('sha256', marking)
        .update(JSON.stringify([label, text]))
        .digest()
        .subarray(0, MARK_BYTES)
        .toString('base64url'),
  };
}
