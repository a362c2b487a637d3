import { approvalLimits } from '../limits.ts';
import { visible } from './request-text.ts';

/** Header that states the purpose of a call to the person who may have to approve it. */
export const NOTE_HEADER = 'X-SVC-Note';

export type ReadNote = { readonly kind: 'none' | 'malformed' } | { readonly kind: 'read'; readonly note: string };

/** The bytes of the header are UTF-8, but HTTP libraries decode them as Latin-1. */
export function readNote(header: string | null): ReadNote {
  if (header === null || header.trim() === '') return { kind: 'none' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1')).trim();
    const malformed = [...text].length > approvalLimits.note_characters_max;
    return malformed ? { kind: 'malformed' } : { kind: 'read', note: visible(text) };
  } catch {
    return { kind: 'malformed' };
  }
}
