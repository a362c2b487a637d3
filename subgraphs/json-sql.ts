import {
  type DocumentNode,
  type FieldNode,
  type GraphQLResolveInfo,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { RawJson } from '../schema/json-text.ts';
import { limits } from '../schema/limits.ts';

/* SQL expressions by which Postgres writes the JSON of a response, so that a page is not built row by row. */

/**
 * How Postgres writes a type as JSON. Each field has an SQL expression of type text that is JSON, or null if the field is null; or, for an
 * object, the way in which that is written. The result must be the same as that of the field resolvers in JavaScript.
 */
export interface Writing {
  readonly type: string;
  readonly fields: Readonly<Record<string, string | Writing>>;
  /** Names of the fields that are never null. */
  readonly always?: readonly string[];
  /** Fields that are all null if the condition `none` is true, which is cheap to check. */
  readonly rare?: { readonly none: string; readonly fields: readonly string[] };
  /** Condition under which the object is not null. */
  readonly where?: string;
  /** For a list of such objects: makes the SQL expression of the list from that of one item. */
  readonly list?: (each: string) => string;
}

/**
 * Lists whose null members are left out of the response, by the response names on the path to the list, joined by dots. The value names the
 * members that are written even if they are null. In all other objects a null member is written as null.
 */
export type NullOmissions = Readonly<Record<string, readonly string[]>>;

type Fragments = GraphQLResolveInfo['fragments'];

/** Expressions of columns. Text from a caller is escaped; what Postgres prints itself needs no escaping. */
export const asPrinted = (column: string): string => `${column}::text`;
/** Escapes text except for control characters, which `writtenText` escapes. Measured: this takes a seventh of the time of to_json. */
export const asText = (column: string): string => String.raw`'"'||replace(replace(${column},'\','\\'),'"','\"')||'"'`;
/** For digits and words of a fixed list, which need no escaping. */
export const asWord = (column: string): string => `'"'||${column}||'"'`;
/** For a member of jsonb: JSON null becomes SQL null, as for an absent member. */
export const asJson = (member: string): string => `nullif((${member})::text,'null')`;
/** In the format of Date.toISOString. The added microsecond keeps zeros at the end of the milliseconds, which Postgres would leave out. */
export const asTime = (column: string): string =>
  `left(to_json(date_trunc('milliseconds',${column} at time zone 'UTC')+interval '1 microsecond')::text,24)||'Z"'`;

/** JSON that Postgres writes has control characters only inside strings, so all of them are escaped. */
export function writtenText(text: string): RawJson {
  return new RawJson(CONTROL.test(text) ? withEscapes(text) : text);
}
const CONTROL = /[^ -\uffff]/;
const SPACE = 0x20;
const ESCAPES = Array.from({ length: SPACE }, (_, code) =>
  Buffer.from(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
);
/** Length of an escape such as `\u0001`. */
const ESCAPE_BYTES_MAX = 6;

/**
 * Works byte by byte, because for a text of nothing but line feeds a regular expression would block the thread for a second per megabyte.
 */
function withEscapes(text: string): string {
  const bytes = Buffer.from(text);
  let controls = 0;
  for (const byte of bytes) if (byte < SPACE) controls++;
  const escaped = Buffer.allocUnsafe(bytes.length + controls * (ESCAPE_BYTES_MAX - 1));
  let length = 0;
  for (const byte of bytes) {
    const written = ESCAPES[byte];
    if (written === undefined) escaped[length++] = byte;
    else length += written.copy(escaped, length);
  }
  return escaped.toString('utf8', 0, length);
}

/** The value of a field with its selection, as one SQL expression over the row in scope. */
export function fieldSql(
  writing: Writing,
  { fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
  leftOut: NullOmissions,
  path: string,
): string {
  // A caller chooses the keys, so `constructor` may be one of them.
  const kept = Object.hasOwn(leftOut, path) ? leftOut[path] : undefined;
  const members = [...selectedFields(fieldNodes, fragments)].map(([key, nodes]): Member => {
    const name = nodes[0]?.name.value ?? '';
    const [always, stays] = [isAlways(writing, name), kept === undefined || kept.includes(key)];
    const value = writtenValue(writing, nodes, fragments, leftOut, `${path}.${key}`);
    return { key, value, always, stays, rare: writing.rare?.fields.includes(name) ?? false };
  });
  const object = `'{'||${joinMembers(members, writing.rare?.none)}||'}'`.replaceAll(`'||'`, '');
  const whole = writing.list?.(object) ?? object;
  return writing.where === undefined ? whole : `case when ${writing.where} then ${whole} end`;
}

interface Member {
  /** A GraphQL name: letters, digits and underscores. */
  readonly key: string;
  readonly value: string;
  /** Whether the value is never null. */
  readonly always: boolean;
  /** Whether the member is written even if it is null. */
  readonly stays: boolean;
  readonly rare: boolean;
}

/**
 * The first member that is always written has no comma of its own: the members before it end with a comma, and those after it begin with
 * one.
 */
function joinMembers(members: readonly Member[], none: string | undefined): string {
  const sure = members.findIndex(({ always, stays, rare }) => !rare && (always || stays));
  const one = members[sure];
  if (!one) return `substr(${concatenate(runs(members, none, ',', ''))},2)`;
  const before = runs(members.slice(0, sure), none, '', ',');
  return concatenate([...before, memberSql(one, '', ''), ...runs(members.slice(sure + 1), none, ',', '')]);
}

/** Rare members next to each other share one check of their condition. */
function runs(members: readonly Member[], none: string | undefined, begin: string, end: string): string[] {
  const [first] = members;
  if (!first) return [];
  const other = members.findIndex(({ rare }) => rare !== first.rare);
  const run = other < 0 ? members : members.slice(0, other);
  const texts = run.map(member => memberSql(member, begin, end));
  const nothing = run.map(member => ifNull(member, begin, end));
  const these = first.rare ? [`case when ${none} then ${concatenate(nothing)} else ${concatenate(texts)} end`] : texts;
  return [...these, ...runs(members.slice(run.length), none, begin, end)];
}

/** `||` with null is null. */
function memberSql(member: Member, begin: string, end: string): string {
  const text = `'${begin}"${member.key}":'||${member.value}${end && `||'${end}'`}`;
  return member.always ? text : `coalesce(${text},${ifNull(member, begin, end)})`;
}

function ifNull({ key, stays }: Member, begin: string, end: string): string {
  return stays ? `'${begin}"${key}":null${end}'` : `''`;
}

/** Concatenates by halves, because a long chain would be copied repeatedly and nested too deep. */
function concatenate(texts: readonly string[]): string {
  if (texts.length <= CHAIN_MAX) return texts.join('||');
  const half = texts.length >> 1;
  return `(${concatenate(texts.slice(0, half))})||(${concatenate(texts.slice(half))})`;
}
const CHAIN_MAX = 8;

function isAlways({ fields, always = [] }: Writing, name: string): boolean {
  const field = fields[name];
  return name === '__typename' || always.includes(name) || (typeof field === 'object' && field.where === undefined);
}

function writtenValue(
  writing: Writing,
  nodes: readonly FieldNode[],
  fragments: Fragments,
  leftOut: NullOmissions,
  path: string,
): string {
  const name = nodes[0]?.name.value ?? '';
  if (name === '__typename') return `'"${writing.type}"'`;
  const field = writing.fields[name];
  if (field === undefined) throw new Error(`${writing.type}.${name} cannot be written`);
  return typeof field === 'string' ? field : fieldSql(field, { fieldNodes: nodes, fragments }, leftOut, path);
}

/**
 * Fields selected under a field, by response key, merged as in GraphQL section 6.3.2. There are neither directives nor abstract types here.
 */
export function selectedFields(nodes: readonly FieldNode[], fragments: Fragments): Map<string, FieldNode[]> {
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
      // Each fragment is visited once: a repetition selects nothing new, and nested pairs would take 2^n visits.
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

/**
 * The first statements are prepared on each connection that runs them. Callers may produce any number of others, which
 * are not.
 */
export function preparedIfFew(text: string): { readonly name?: string; readonly text: string } {
  const name =
    names.get(text) ?? (names.size < limits.written_statements_prepared_max ? `written ${names.size}` : null);
  if (name === null) return { text };
  names.set(text, name);
  return { name, text };
}

const writable = new WeakMap<DocumentNode, boolean>();

/**
 * Whether the selection of a document is the same for all values of its variables. Documents with @skip or @include are left to graphql-js.
 */
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
