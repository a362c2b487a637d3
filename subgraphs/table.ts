import 'reflect-metadata';
import type * as orm from '@mikro-orm/decorators/legacy';

/*
 * Table definitions of entities. They are kept here and passed to MikroORM (orm.ts) only if migrations must run: loading MikroORM takes a
 * tenth of the startup time, and a database that is up to date does not need it. No query goes through MikroORM.
 */

/** A numeric column that is a bigint in JavaScript, for atomic amounts. See `AmountType` in orm.ts. */
export class AtomicAmountColumn {}

/** An int8 column that is a number in JavaScript, for counts and positions. */
export class BigIntType {
  readonly mode: 'number';

  constructor(mode: 'number') {
    this.mode = mode;
  }
}

type ColumnType = string | typeof AtomicAmountColumn | AtomicAmountColumn | BigIntType;

interface ColumnOptions {
  readonly type: ColumnType;
  readonly columnType?: string;
  readonly length?: number;
  readonly nullable?: boolean;
  readonly unique?: boolean | string;
  readonly index?: boolean | string;
  readonly autoincrement?: boolean;
  readonly default?: string | number | boolean | null;
  readonly defaultRaw?: string;
  /** SQL expression over the other columns of the row, followed by `stored`. */
  readonly generated?: string;
}

interface IndexOptions {
  readonly name: string;
  readonly properties?: string | readonly string[];
  readonly where?: string;
  readonly expression?: string;
  readonly type?: string;
}

type EntityClass = abstract new (...args: never[]) => object;

/** MikroORM's decorators, and the translation of our column types to its own. */
export interface OrmDecorators {
  readonly decorators: typeof orm;
  typeOf(type: ColumnType): unknown;
}

type Mark = (real: OrmDecorators) => void;

interface Column {
  readonly property: string;
  /** Value of the column in a new row that gives none. Undefined if the row must give one. */
  readonly unnamed: string | number | boolean | null | undefined;
}

const marks: Mark[] = [];
const columns = new Map<unknown, Column[]>();

/** Applies each definition once, in the order in which the classes were made. */
export function applyToOrm(real: OrmDecorators): void {
  for (const mark of marks.splice(0)) mark(real);
}

/** Columns of an entity. Columns of its base classes come first. */
export function columnsOf(entity: EntityClass): readonly Column[] {
  const above = Object.getPrototypeOf(entity);
  return [...(above === Function.prototype ? [] : columnsOf(above)), ...(columns.get(entity) ?? [])];
}

/** Name of a property's column, as MikroORM's UnderscoreNamingStrategy spells it. */
export function columnName(property: string): string {
  return property.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
}

export function Entity(options: { readonly tableName?: string } = {}) {
  return (target: EntityClass): void => void marks.push(real => real.decorators.Entity(options)(target as never));
}

export const Property = column('Property');
export const PrimaryKey = column('PrimaryKey');

export const Index = constraint('Index');
export const Unique = constraint('Unique');

export function TableCheck(options: { readonly name: string; readonly expression: string }) {
  return (target: EntityClass): void => void marks.push(real => real.decorators.Check(options)(target as never));
}

function column(kind: 'Property' | 'PrimaryKey') {
  return (options: ColumnOptions) =>
    (prototype: object, property: string): void => {
      const entity = prototype.constructor;
      columns.set(entity, [
        ...(columns.get(entity) ?? []),
        { property, unnamed: options.default ?? (options.nullable ? null : undefined) },
      ]);
      marks.push(({ decorators, typeOf }) =>
        decorators[kind]({ ...options, type: typeOf(options.type) } as never)(prototype, property),
      );
    };
}

function constraint(kind: 'Index' | 'Unique') {
  // Decorates a class, or the only property that the index covers.
  return (options: IndexOptions) =>
    (target: object, property?: string): void =>
      void marks.push(({ decorators }) => decorators[kind](options as never)(target as never, property as never));
}
