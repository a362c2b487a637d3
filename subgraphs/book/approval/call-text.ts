import { z } from 'zod';
import type { Vault } from '../../vault.ts';

/** Text and note of a call, as an approval request shows them. */
export interface CallText {
  readonly request_text: string;
  readonly request_text_characters: number;
  /** Note of the caller, unverified. Null if there is none. */
  readonly note: string | null;
}

const shape = z.object({ request_text: z.string(), request_text_characters: z.int(), note: z.string().nullable() });

const labelOf = (approval_id: string): string => `approval text:${approval_id}`;

/** Encrypts the text, so that a reader of the database cannot read prompts. */
export function sealCallText(vault: Pick<Vault, 'seal'>, approval_id: string, text: CallText): Buffer {
  return vault.seal(JSON.stringify(text), labelOf(approval_id));
}

/** Decrypts the text. Null if it was deleted or sealed with another key. */
export function openCallText(vault: Pick<Vault, 'open'>, approval_id: string, box: Uint8Array | null): CallText | null {
  if (box === null) return null;
  try {
    return shape.parse(JSON.parse(vault.open(box, labelOf(approval_id)).toString('utf8')));
  } catch {
    return null;
  }
}
