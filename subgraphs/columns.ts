import { columnName, columnsOf } from './table.ts';

/* How a row becomes an entity, and an entity a row. */

const selected = new WeakMap<object, string>();

/** The columns of an entity under the names of its properties, for prepared statements on hot paths. */
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
 * A result row, which is not copied, as an instance of its entity, getters included. Assigned one by one its members
 * would meet MikroORM's setters in a process that has run migrations, each of which makes an accessor to track changes that
 * nobody makes here.
 */
export function asEntity<E extends object>(entity: new () => E, row: object): E {
  return Object.setPrototypeOf(row, entity.prototype);
}

type NullableColumn<E> = { [K in keyof E]: null extends E[K] ? K : never }[keyof E];

/** A row that is written for the first time: a column that is nullable and is not named is null. */
export function newRow<E extends object>(
  entity: new () => E,
  said: Omit<E, NullableColumn<E>> & Partial<Pick<E, NullableColumn<E>>>,
): E {
  const unset = columnsOf(entity).flatMap(({ property, nullable }) => (nullable ? [[property, null]] : []));
  return asEntity(entity, { ...Object.fromEntries(unset), ...said });
}

const columnNames = new Map<string, string>();

/** An entity as `insertRows` takes it: by its columns, amounts as digits. */
export function asRecord(entity: object): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [property, value] of Object.entries(entity)) {
    const known = columnNames.get(property) ?? property.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
    columnNames.set(property, known);
    record[known] = typeof value === 'bigint' ? value.toString() : value;
  }
  return record;
}
