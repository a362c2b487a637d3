import { z } from 'zod';
import type { Vault } from '../../vault.ts';

/** What a request for an approval shows of its call beside what the book knows of it. */
export interface AskedText {
  readonly request_text: string;
  readonly request_text_characters: number;
  /** What its caller says of it, which nobody has checked; null where they say nothing. */
  readonly note: string | null;
}

const shape = z.object({ request_text: z.string(), request_text_characters: z.int(), note: z.string().nullable() });

const labelOf = (approval_id: string): string => `approval text:${approval_id}`;

/** It is what somebody has asked a model: whoever reads the database reads none of it. */
export function sealAskedText(vault: Pick<Vault, 'seal'>, approval_id: string, text: AskedText): Buffer {
  return vault.seal(JSON.stringify(text), labelOf(approval_id));
}

/** Null where there is none any more, or it was sealed by another key. */
export function openAskedText(
  vault: Pick<Vault, 'open'>,
  approval_id: string,
  box: Uint8Array | null,
): AskedText | null {
  if (box === null) return null;
  try {
    return shape.parse(JSON.parse(vault.open(box, labelOf(approval_id)).toString('utf8')));
  } catch {
    return null;
  }
}
