import { type DocumentNode, parse, print, visit } from 'graphql';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';

/* Splits a description of the service into the part that may not change and the texts that may. */

/** A schema without descriptions, and `words`: each description by its path. */
export interface SplitDescription<T> {
  readonly shape: T;
  readonly words: Readonly<Record<string, string>>;
}

/** Removes each text `description` from JSON and sorts members, whose order has no meaning in a schema. */
export function splitJson(whole: Json): SplitDescription<Json> {
  const words: Record<string, string> = {};
  const bare = (value: Json, path: string): Json => {
    if (Array.isArray(value)) return value.map((one, index) => bare(one, `${path}/${index}`));
    if (!isJsonObject(value)) return value;
    const members: [string, Json][] = [];
    for (const name of Object.keys(value).sort()) {
      const member = value[name];
      if (member === undefined) continue;
      if (name === 'description' && typeof member === 'string') words[path] = member;
      else if (name === 'required' && Array.isArray(member)) members.push([name, member.toSorted()]);
      else members.push([name, bare(member, `${path}/${name}`)]);
    }
    return Object.fromEntries(members) as JsonObject;
  };
  return { shape: bare(whole, ''), words };
}

/** Removes the descriptions from SDL. */
export function splitSdl(sdl: string): SplitDescription<string> {
  const words: Record<string, string> = {};
  const path: string[] = [];
  const bare: DocumentNode = visit(parse(sdl, { noLocation: true }), {
    enter(node) {
      if ('name' in node && node.name?.kind === 'Name') path.push(node.name.value);
      if ('description' in node && node.description) words[path.join('.')] = node.description.value;
    },
    leave(node) {
      if ('name' in node && node.name?.kind === 'Name') path.pop();
      return 'description' in node ? { ...node, description: undefined } : undefined;
    },
  });
  return { shape: print(bare), words };
}
