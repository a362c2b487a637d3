import type { DocumentNode } from 'graphql';
import { everyDoor } from '../../../rest-compat/every-door.ts';

/** The operation that an endpoint runs by default. Its body may select another. */
export function documentRunBy(name: string): DocumentNode {
  const door = everyDoor.find(each => each.name === name);
  const [document] = door?.kind === 'document' ? door.documents : [];
  if (!document) throw new Error(`${name} runs no document`);
  return document;
}
