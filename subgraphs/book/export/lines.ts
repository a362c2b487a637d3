import { RARE_FACTS } from '../page/row-json.ts';
import type { Cell } from './cells.ts';

/*
 * SQL that writes rows as lines of text, because formatting a million rows in Node would block its event loop. The CSV is identical
 * to that of csv-stringify, which a property test compares.
 */

/**
 * Matches text that needs escaping, because it contains anything but printable ASCII, or a quotation mark, a comma, a backslash or
 * a formula prefix. All open texts of a row are checked at once, separated by U+001F.
 */
const SPECIAL = String.raw`[^ !#-+\u002d-\u005b\u005d-\u007e\u001f]|(^|\u001f)[=+@\u002d]`;

/**
 * Formula prefixes of spreadsheets (OWASP, CSV Injection), in half and full width. A text with such a prefix gets a leading
 * apostrophe.
 */
const FORMULA = String.raw`^[=+@\u002d\t\r\uff1d\uff0b\uff0d\uff20]`;

/** SQL of one line of CSV (RFC 4180), without the line end. */
export function csvLine(cells: readonly Cell[]): string {
  return line(cells, {
    plain: ({ sql, nullable }) => (nullable ? `coalesce(${sql},'')` : sql),
    escape: ({ sql }) => `coalesce(${quoted(`case when ${sql} ~ '${FORMULA}' then ''''||${sql} else ${sql} end`)},'')`,
    json: ({ sql }) => `coalesce(${quoted(sql)},'')`,
    integer: ({ sql }) => `coalesce(${sql},'')`,
    empty: () => `''`,
    join: texts => texts.join(`||','||`),
  });
}

const quoted = (text: string) => `'"'||replace(${text},'"','""')||'"'`;

/** SQL of one JSON object with every field. Fields without a value are null. */
export function jsonLine(cells: readonly Cell[]): string {
  const member = ({ name }: Cell, value: string) => `'"${name}":'||${value}`;
  return line(cells, {
    plain: cell => member(cell, orNull(cell, `'"'||${cell.sql}||'"'`)),
    escape: cell => member(cell, orNull(cell, `to_json(${cell.sql})::text`)),
    json: cell => member(cell, orNull(cell, cell.sql)),
    integer: cell => member(cell, orNull(cell, cell.sql)),
    empty: ({ name }) => `'"${name}":null'`,
    join: texts => `'{'||${texts.join(`||','||`)}||'}'`,
  });
}

const orNull = ({ nullable }: Cell, json: string) => (nullable ? `coalesce(${json},'null')` : json);

/** Functions that write a cell as SQL, by kind of cell. `plain` is used if no text of the row needs escaping. */
interface Writer {
  plain(cell: Cell): string;
  escape(cell: Cell): string;
  json(cell: Cell): string;
  integer(cell: Cell): string;
  empty(cell: Cell): string;
  join(texts: readonly string[]): string;
}

/** SQL of a line. Most rows have neither special text nor rare facts, so one check selects a shorter form for them. */
function line(cells: readonly Cell[], writer: Writer): string {
  const open = cells.filter(({ name, kind, in_facts }) => kind === 'open' && !in_facts && !name.endsWith('_url'));
  // concat_ws would take three times as long.
  const texts = open.map(({ sql, nullable }) => (nullable ? `coalesce(${sql},'')` : sql)).join(`||E'\\x1f'||`);
  const short = cells.map(cell => (cell.in_facts ? writer.empty(cell) : writeCell(cell, writer.plain, writer)));
  const long = cells.map(cell => writeCell(cell, writer.escape, writer));
  const special = `${RARE_FACTS}<>'{}' or ${texts} ~ '${SPECIAL}'`;
  return `case when ${special} then ${joinLiterals(long, writer)} else ${joinLiterals(short, writer)} end`;
}

function writeCell(cell: Cell, text: (cell: Cell) => string, writer: Writer): string {
  if (cell.kind === 'open') return text(cell);
  return cell.kind === 'closed' ? writer.plain(cell) : writer[cell.kind](cell);
}

/** Joins the SQL of cells, and merges adjacent literals. */
function joinLiterals(texts: readonly string[], { join }: Writer): string {
  return join(texts).replaceAll(`'||'`, '');
}
