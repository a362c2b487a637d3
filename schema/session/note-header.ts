import { approvalLimits } from '../limits.ts';
import { visible } from './request-text.ts';

/** By which a caller says, for whoever may have to approve the call, what it is for. */
export const NOTE_HEADER = 'X-SVC-Note';

export type ReadNote = { readonly kind: 'none' | 'malformed' } | { readonly kind: 'read'; readonly note: string };

/** A header's bytes are UTF-8; HTTP libraries hand them on as Latin-1. */
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
