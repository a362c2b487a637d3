import type { z } from 'zod';
import type { DoorPrice } from '../../../rest-compat/door.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { atomicAmount, formatUsdc } from '../../../schema/amount.ts';
import type { VariableMeta } from '../../config/forms.ts';
import { hub } from '../../config/hub.ts';
import { notYet } from '../../config/read-config.ts';
import { accounts, confidential, secrets } from '../../config/refused-in-production.ts';
import { needless, type SubstitutedName, substitutes } from '../../config/substitutes.ts';
import { mayBeEmpty, type VariableName, variables } from '../../config/variables.ts';
import { betweenMarks, type Checkout, findRooms, roomList } from './rooms.ts';

/** Every README.md that holds something derived, by its path, as it has to stand. */
export function pagesAsDerived(checkout: Checkout): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const room of findRooms(checkout)) {
    const path = `${room.folder}/README.md`;
    const page = betweenMarks(checkout.text(path), 'rooms', roomList(room));
    pages.set(
      path,
      tables.reduce((text, [name, table]) => betweenMarks(text, name, table()), page),
    );
  }
  return pages;
}

/** What may stand between marks of these names, on whatever page. */
const tables: readonly (readonly [string, () => string])[] = [
  ['doors', doorList],
  ['variables', variableTable],
  ['hubs', hubMembers],
];

/** The doors that are served, as a list: methods, path, price where there is one, and what each is for. */
function doorList(): string {
  return everyDoor
    .map(({ methods, path, price, summary }) => `- ${methods.join(', ')} \`${path}\`${priceOf(price)}: ${summary}`)
    .join('\n');
}

function priceOf(price: DoorPrice | null): string {
  if (price === null) return '';
  const { amount_atomic } = price;
  return amount_atomic === null ? ' (price in its 402)' : ` (${formatUsdc(atomicAmount(amount_atomic))})`;
}

/** Every variable of the environment as a table, from its zod schema and from what production refuses. */
function variableTable(): string {
  const rows = Object.entries(variables.shape).map(([name, schema]) => {
    const cells = [meaningOf(schema), formOf(schema), unsetOf(name, schema), productionRule(name as VariableName)];
    return `| \`${name}\` | ${cells.join(' | ')} |`;
  });
  return ['| variable | meaning | form | when unset | in production |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** The members of one hub of `HUBS`, in a sentence. */
function hubMembers(): string {
  const members = Object.entries(hub.shape).map(([name, schema]) => {
    const needed = schema.safeParse(undefined).success ? '' : ', needed';
    return `\`${name}\` (${meaningOf(schema)}${needed})`;
  });
  return `One hub of \`HUBS\` has ${members.join('; ')}.`;
}

/** @throws where a schema does not say what it is for: the table would have a hole. */
function meaningOf(schema: z.ZodType): string {
  const { description } = schema.meta() ?? {};
  if (!description) throw new Error('a row without a description');
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
  if (notYet.some(it => it === name)) return 'nothing reads it yet: it is refused where it is set';
  if (name in substitutes) return substitutes[name as SubstitutedName];
  const usual = definitionOf(schema).defaultValue;
  if (usual === undefined) throw new Error(`${name}: nothing is said of it unset`);
  return (Array.isArray(usual) ? usual : [usual]).map(value => `\`${value}\``).join(', ') || 'none';
}

function productionRule(name: VariableName): string {
  const rules = [
    name in substitutes ? neededInProduction(name as SubstitutedName) : '',
    confidential.includes(name) ? 'https, but on this machine' : '',
    name in secrets ? `${secrets[name as keyof typeof secrets]} characters or more` : '',
    name in accounts ? 'no development account' : '',
    name === 'DATABASE_URL' ? 'TLS, but on this machine or with `DATABASE_PLAIN`' : '',
  ];
  return rules.filter(Boolean).join('; ');
}

function neededInProduction(name: SubstitutedName): string {
  const instead = needless[name];
  const needed = mayBeEmpty.has(name) ? 'needed, or set to nothing for none' : 'needed';
  return instead ? `${needed}, but with \`${instead}\`` : needed;
}

/** As much of zod's own description of a schema as is read here. */
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
