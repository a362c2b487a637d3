import { columnName, columnsOf } from './table.ts';

/* Mapping between rows and entities. */

const selected = new WeakMap<object, string>();

/** Select list of an entity, with each column under the name of its property. For prepared statements on hot paths. */
export function selectList(entity: new () => object): string {
  const known = selected.get(entity);
  if (known) return known;
  const columns = columnsOf(entity)
    .map(({ property }) => `"${columnName(property)}" as "${property}"`)
    .join(', ');
  selected.set(entity, columns);
  return columns;
}

/**
 * Turns a result row into an instance of its entity, with the entity's getters, without copying the row. Assigning member by member would
 * call MikroORM's setters in a process that has run migrations. Each setter creates an accessor for change tracking, which is not used
 * here.
 */
export function asEntity<E extends object>(entity: new () => E, row: object): E {
  return Object.setPrototypeOf(row, entity.prototype);
}

type NullableColumn<E> = { [K in keyof E]: null extends E[K] ? K : never }[keyof E];

/**
 * Makes a new row. A column that is not given is null, or has its default if it is in `D`. Such columns follow the given ones, in the order
 * of the table. The order matters, because an answer is encrypted with its members in this order.
 * @throws Error if a column has no value and no default
 */
export function newRow<E extends object, D extends keyof E = never>(
  entity: new () => E,
  said: Omit<E, NullableColumn<E> | D> & Partial<Pick<E, NullableColumn<E> | D>>,
): E {
  const unnamed = columnsOf(entity).filter(({ property }) => !(property in said));
  const unset = unnamed.find(column => column.unnamed === undefined);
  if (unset) throw new Error(`a new row has no ${unset.property}`);
  const others = unnamed.map(column => [column.property, column.unnamed]);
  return asEntity(entity, { ...said, ...Object.fromEntries(others) });
}

const columnNames = new Map<string, string>();

/** An entity in the form that `insertRows` requires: members named like columns, and amounts as decimal digits. */
export function asRecord(entity: object): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [property, value] of Object.entries(entity)) {
    const known = columnNames.get(property) ?? property.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
    columnNames.set(property, known);
    record[known] = typeof value === 'bigint' ? value.toString() : value;
  }
  return record;
}
