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
 * How Postgres writes a type as JSON. A field is either an SQL expression of type text, which is JSON or null, or a `Writing` if the field
 * is an object. The result must be the same as that of the field resolvers in JavaScript.
 */
export interface Writing {
  readonly type: string;
  readonly fields: Readonly<Record<string, string | Writing>>;
  /** Names of the fields that are never null. */
  readonly always?: readonly string[];
  /** Fields that are all null if the SQL condition `none` is true. This condition is cheap to check. */
  readonly rare?: { readonly none: string; readonly fields: readonly string[] };
  /** SQL condition under which the object is not null. */
  readonly where?: string;
  /** For a list of such objects: makes the SQL expression of the list from that of one item. */
  readonly list?: (each: string) => string;
}

/**
 * Lists whose items leave out null members. The key is the path to the list: response names, joined by dots. The value names the members
 * that are written even if they are null. In all other objects a null member is written as null.
 */
export type NullOmissions = Readonly<Record<string, readonly string[]>>;

type Fragments = GraphQLResolveInfo['fragments'];

/** For a column that Postgres prints as JSON by itself, such as a number or a boolean: it needs no escaping. */
export const asPrinted = (column: string): string => `${column}::text`;
/**
 * For text from a caller. Control characters are not escaped here but in `writtenText`. Measured: this takes a seventh of the time of
 * to_json.
 */
export const asText = (column: string): string => String.raw`'"'||replace(replace(${column},'\','\\'),'"','\"')||'"'`;
/** For digits, and for words from a fixed list, which need no escaping. */
export const asWord = (column: string): string => `'"'||${column}||'"'`;
/** For a member of jsonb: JSON null becomes SQL null, as for an absent member. */
export const asJson = (member: string): string => `nullif((${member})::text,'null')`;
/**
 * For a time, in the format of Date.toISOString. The added microsecond keeps zeros at the end of the milliseconds, which Postgres would
 * leave out.
 */
export const asTime = (column: string): string =>
  `left(to_json(date_trunc('milliseconds',${column} at time zone 'UTC')+interval '1 microsecond')::text,24)||'Z"'`;

/** Escapes all control characters, because JSON that Postgres writes has them only inside strings. */
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

/** Works byte by byte, because a regular expression would block the thread for a second per megabyte of a text that has only line feeds. */
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
  // A caller chooses the response names in the path, so the path may be `constructor`.
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
 * Joins members with commas. The first member that is always written has no comma: the members before it end with a comma, and those after
 * it begin with one.
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

/** Writes the member by `ifNull` if its value is null, because `||` with null returns null. */
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

/** Fields selected under a field, by response key, merged as in GraphQL section 6.3.2. Directives and abstract types do not occur here. */
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
      // Each fragment is visited once, because a repetition selects nothing new, and fragments that each name the next one twice would take
      // 2^n visits.
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
 * Names the first statements, so that they are prepared on each connection that runs them. Callers can cause any number of other
 * statements, which stay unnamed and are not prepared.
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
 * Whether the selection of a document is the same for all values of its variables. Documents with directives, such as @skip or @include,
 * are left to graphql-js.
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
