import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { systemRandom } from './clock.ts';

/** Encrypts what must be stored and read again (stored answers, webhook secrets, router keys): AES-256-GCM. */
export interface Vault {
  /** Encrypts into a box. `label` names the place of the box: a box that was moved to another row does not open. */
  seal(plain: Uint8Array | string, label: string): Buffer;
  /** Decrypts a box. @throws if the box was altered or made for another label. */
  open(box: Uint8Array, label: string): Buffer;
  /**
   * Marks a text without revealing it: the first 128 bits of an HMAC-SHA256, in base64url. The same text and label have the same mark. It
   * is used for values that must be recognised but not stored, such as an address or a caller's key.
   */
  mark(text: string, label: string): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MARK_BYTES = 16;

/** `secret` is SEAL_KEY. Keys are derived from it with HKDF (RFC 5869), so it may have any length. */
export function openVault(secret: string): Vault {
  // Node checks the type of a key that is given as bytes at each use, which costs more than the encryption. A key object avoids that.
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
    // JSON keeps label and text apart.
    mark: (text, label) =>
      createHmac('sha256', marking)
        .update(JSON.stringify([label, text]))
        .digest()
        .subarray(0, MARK_BYTES)
        .toString('base64url'),
  };
}
