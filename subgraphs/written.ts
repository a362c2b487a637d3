import {
  type DocumentNode,
  type FieldNode,
  type GraphQLResolveInfo,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { limits } from '../schema/limits.ts';

/**
 * How a type is written as JSON by Postgres: for each of its fields an SQL expression of type text that is JSON, or null
 * where the field is null; or how the object there is written. What the field resolvers say in JavaScript, said in SQL.
 */
export interface Writing {
  readonly type: string;
  readonly fields: Readonly<Record<string, string | Writing>>;
  /** A condition under which the object is there at all. */
  readonly where?: string;
}

/** Null members to be left out, by the response name of the list: all but those named. Elsewhere null is an answer. */
export type LeftOut = Readonly<Record<string, readonly string[]>>;

type Fragments = GraphQLResolveInfo['fragments'];

/** Expressions of columns. A text that a caller chose is escaped; what Postgres prints itself needs none. */
export const asText = (column: string): string => `to_json(${column})::text`;
export const asPrinted = (column: string): string => `${column}::text`;
/** As Date.toISOString says it. */
export const asTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"')`;

/** What stands under a field, as one SQL expression over the row in scope. */
export function writtenBy(
  writing: Writing,
  { fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
  kept: readonly string[] | null,
): string {
  const members = [...selected(fieldNodes, fragments)].map(([key, nodes]) => {
    const value = writtenValue(writing, nodes, fragments);
    // Keys are GraphQL names: letters, digits and underscores. `||` with null is null, and concat_ws leaves that out.
    return kept === null || kept.includes(key) ? `'"${key}":'||coalesce(${value},'null')` : `'"${key}":'||${value}`;
  });
  const object = `'{'||${joined(members)}||'}'`;
  return writing.where === undefined ? object : `case when ${writing.where} then ${object} end`;
}

/** Postgres takes at most 100 arguments. */
const ARGUMENTS_MAX = 90;

function joined(members: readonly string[]): string {
  if (members.length <= ARGUMENTS_MAX) return `concat_ws(',',${members.join()})`;
  const parts = [];
  for (let from = 0; from < members.length; from += ARGUMENTS_MAX)
    parts.push(`nullif(${joined(members.slice(from, from + ARGUMENTS_MAX))},'')`);
  return joined(parts);
}

function writtenValue(writing: Writing, nodes: readonly FieldNode[], fragments: Fragments): string {
  const name = nodes[0]?.name.value ?? '';
  if (name === '__typename') return `'"${writing.type}"'`;
  const field = writing.fields[name];
  if (field === undefined) throw new Error(`${writing.type}.${name} cannot be written`);
  return typeof field === 'string' ? field : writtenBy(field, { fieldNodes: nodes, fragments }, null);
}

/** What is selected beneath a field, by response key, merged as in GraphQL 6.3.2; there are neither directives nor abstract types here. */
export function selected(nodes: readonly FieldNode[], fragments: Fragments): Map<string, FieldNode[]> {
  const found = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const add = (node: FieldNode) => {
    const key = node.alias?.value ?? node.name.value;
    const known = found.get(key);
    if (known) known.push(node);
    else found.set(key, [node]);
  };
  const collect = (selection: SelectionSetNode | undefined) => {
    for (const node of selection?.selections ?? []) {
      if (node.kind === Kind.INLINE_FRAGMENT) collect(node.selectionSet);
      else if (node.kind === Kind.FIELD) add(node);
      // Each fragment once: the same one again selects nothing new, and nested twos would grow as 2^n.
      else if (!spread.has(node.name.value)) {
        spread.add(node.name.value);
        collect(fragments[node.name.value]?.selectionSet);
      }
    }
  };
  for (const node of nodes) collect(node.selectionSet);
  return found;
}

const names = new Map<string, string>();

/** The first statements are prepared, on each connection that runs them; callers may ask for any number of others. */
export function preparedIfFew(text: string): { readonly name?: string; readonly text: string } {
  const name =
    names.get(text) ?? (names.size < limits.written_statements_prepared_max ? `written ${names.size}` : null);
  if (name === null) return { text };
  names.set(text, name);
  return { name, text };
}

const writable = new WeakMap<DocumentNode, boolean>();

/** Whether a document says the same for every value of its variables: @skip and @include are left to graphql-js. */
export function isWritable(document: DocumentNode): boolean {
  const known = writable.get(document);
  if (known !== undefined) return known;
  let directives = 0;
  visit(document, {
    Directive() {
      directives++;
    },
  });
  writable.set(document, directives === 0);
  return directives === 0;
}
