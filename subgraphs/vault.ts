import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Seals what must be kept and given back (stored answers, webhook secrets, router keys): AES-256-GCM. */
export interface Vault {
  /** `label` binds the box to its place: a box moved to another row does not open. */
  seal(plain: Uint8Array | string, label: string): Buffer;
  /** @throws where the box was altered or made for another label. */
  open(box: Uint8Array, label: string): Buffer;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `secret` is SEAL_KEY; its use as key material goes through HKDF (RFC 5869), so any length serves. */
export function openVault(secret: string): Vault {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'svc.vault.v1', 32));
  return {
    seal(plain, label) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(label));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(box, label) {
      const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(label));
      decipher.setAuthTag(box.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    },
  };
}
