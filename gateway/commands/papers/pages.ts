import type { z } from 'zod';
import type { DoorPrice } from '../../../rest-compat/door.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { atomicAmount, formatUsdc } from '../../../schema/amount.ts';
import type { VariableMeta } from '../../config/forms.ts';
import { hub } from '../../config/hub.ts';
import { unreadVariables } from '../../config/read-config.ts';
import { type SubstitutedName, substitutes, unneededWith } from '../../config/substitutes.ts';
import { mayBeEmpty, variables } from '../../config/variables.ts';
import { betweenMarks, type Checkout, findRooms, roomList } from './folders.ts';

/** The READMEs with generated parts, by path, with these parts up to date. */
export function pagesAsDerived(checkout: Checkout): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const room of findRooms(checkout)) {
    const path = `${room.folder}/README.md`;
    const page = betweenMarks(checkout.text(path), 'rooms', roomList(room));
    pages.set(
      path,
      parts.reduce((text, [name, part]) => betweenMarks(text, name, part()), page),
    );
  }
  return pages;
}

/** The functions that make the generated parts, by the name of their marks. */
const parts: readonly (readonly [string, () => string])[] = [
  ['doors', doorList],
  ['variables', variableList],
  ['hubs', hubMembers],
];

/** List of the endpoints: methods, path, price if any, and the beginning of the summary. */
function doorList(): string {
  return everyDoor
    .map(({ methods, path, price, summary }) => {
      return `- ${methods.join(', ')} \`${path}\`${priceOf(price)}: ${summary.replace(LESS_IMPORTANT, '')}`;
    })
    .join('\n');
}

/**
 * The end of a summary, which OpenAPI shows and the list omits: details, and a fact that the page states about all paid endpoints.
 */
const LESS_IMPORTANT = /(, with a signed spend receipt|[;:] .*)$/;

function priceOf(price: DoorPrice | null): string {
  if (price === null) return '';
  const { amount_atomic } = price;
  return amount_atomic === null ? ' (price in its 402)' : ` (${formatUsdc(atomicAmount(amount_atomic))})`;
}

/** List of the environment variables, each with its zod schema's description and whether production requires it. */
function variableList(): string {
  const rows = Object.entries(variables.shape).map(([name, schema]) => {
    const facts = `${formOf(schema)}; unset: ${unsetOf(name, schema)}`;
    return `- \`${name}\` (${facts})${requirement(name)}: ${meaningOf(schema)}.`;
  });
  return rows.join('\n');
}

/** List of the members of a hub in `HUBS`. */
function hubMembers(): string {
  const members = Object.entries(hub.shape).map(([name, schema]) => {
    const required = schema.safeParse(undefined).success ? '' : ' (required)';
    return `- \`${name}\`${required}: ${meaningOf(schema)}`;
  });
  return members.join('\n');
}

/** Description of a variable. @throws if the schema has none */
function meaningOf(schema: z.ZodType): string {
  const { description } = schema.meta() ?? {};
  if (!description) throw new Error('a variable without a description');
  return description;
}

function formOf(schema: z.ZodType): string {
  const { form } = (schema.meta() ?? {}) as VariableMeta;
  if (form !== undefined) return form;
  const { innerType, in: before, entries, values } = definitionOf(schema);
  const inner = innerType ?? before;
  if (inner) return formOf(inner);
  const words = values ?? Object.values(entries ?? {});
  return words.length === 0 ? 'text' : words.map(word => `\`${word}\``).join(', ');
}

function unsetOf(name: string, schema: z.ZodType): string {
  const { unset } = (schema.meta() ?? {}) as VariableMeta;
  if (unset !== undefined) return unset;
  if (unreadVariables.some(it => it === name)) return 'the only valid state, because nothing reads it yet';
  if (name in substitutes) return substitutes[name as SubstitutedName];
  const usual = definitionOf(schema).defaultValue;
  if (usual === undefined) throw new Error(`${name} has neither a default nor a text for the unset state`);
  return (Array.isArray(usual) ? usual : [usual]).map(value => `\`${value}\``).join(', ') || 'none';
}

/**
 * Mark of a variable that production requires, with the exceptions. The page explains the mark, and states once which URLs and
 * secrets production refuses.
 */
function requirement(name: string): string {
  if (!(name in substitutes)) return '';
  const instead = unneededWith[name as SubstitutedName];
  const exceptions = [mayBeEmpty.has(name) ? 'or empty' : '', instead ? `or \`${instead}\`` : ''].filter(Boolean);
  return exceptions.length > 0 ? `\\* (${exceptions.join(', ')})` : '\\*';
}

/** Members of zod's schema definition that are read here. */
interface Definition {
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly string[];
  readonly defaultValue?: unknown;
}

function definitionOf(schema: z.ZodType): Definition {
  return schema.def as Definition;
}
