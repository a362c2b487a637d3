import { type DocumentNode, parse, print, visit } from 'graphql';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';

/* A description of the service in two parts: the part that may not change, and the words that may. */

/** A schema without its descriptions, and `words`: each description by its path. */
export interface SplitDescription<T> {
  readonly shape: T;
  readonly words: Readonly<Record<string, string>>;
}

/** Takes each `description` that is text out of JSON, and sorts members, since their order means nothing in a schema. */
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

/** Takes the descriptions out of SDL. */
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
