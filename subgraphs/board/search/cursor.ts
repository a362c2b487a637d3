import type { BoardMatch } from '../../../schema/board/entry.ts';
import { Refusal } from '../../../schema/errors.ts';

/** Where a page of a search ends, and by what the search found: so that its pages are all of one kind. */
export interface SearchCursor {
  readonly matched: BoardMatch;
  /** Of its last entry. */
  readonly name: string;
}

const CURSOR = /^(words|similar):(\w{1,64})$/;

export function cursorText({ matched, name }: SearchCursor): string {
  return Buffer.from(`${matched}:${name}`).toString('base64url');
}

/** @throws Refusal invalid_request where it is none of ours */
export function cursorIn(text: string): SearchCursor {
  const [, matched, name] = CURSOR.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (matched === undefined || name === undefined)
    throw new Refusal('invalid_request', { param: 'after', detail: 'after is no cursor of a search.' });
  return { matched: matched as BoardMatch, name };
}
