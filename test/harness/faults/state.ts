import type { Database } from '../../../subgraphs/database.ts';

/** Tables that concern a single process or the progress of background work. No answer and no debt depends on them. */
const BESIDE = new Set(['mikro_orm_migrations', 'process_lease', 'job_worker', 'issuer_snapshot', 'log_anchor']);
/**
 * Tables whose rows depend on hashes, which differ between any two runs: pages of a map are split by hash. Their totals are in
 * totals_state.
 */
const BY_HASH = new Set(['totals_page']);

/** Patterns of values that differ between any two runs of the same calls, each with its replacement, in the order of their use. */
const passing: readonly (readonly [RegExp, string])[] = [
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'jws'],
  [/(?<![\w-])[\w-]{86}(?![\w-])/g, 'signature'],
  [/^[\w-]{22}$/, 'mark'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00(:00)?)?/g, 'time'],
  [/\d{4}-\d\d-\d\d/g, 'day'],
  // Must precede the patterns that would match a part of such a digest.
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, 'digest'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'uuid'],
  [/\b(0x)?[0-9a-fA-F]{16,}\b/g, 'hex'],
  [/\b([a-z]+)_[0-9A-Za-z-]{12,}\b/g, '$1 id'],
  [/\b1[0-9]{9}([0-9]{3})?\b/g, 'seconds'],
  [/127\.0\.0\.1:\d+/g, 'host'],
];
/** Names of columns that contain numbers of blocks, fees or times, which differ between any two runs. */
const passing_numbers = /block|fee|gas|wei|nonce|_ms$|valid_before|valid_after|^v$/;

function same(value: unknown, name: string): unknown {
  // How often the claim was taken over depends on when the lease ended.
  if (name === 'lease_epoch') return Number(value) > 0 ? 'taken over' : 'as it was claimed';
  if (value instanceof Date) return 'time';
  if (Buffer.isBuffer(value)) return 'bytes';
  if (typeof value === 'string') return passing.reduce((text, [known, word]) => text.replace(known, word), value);
  if (typeof value === 'number' || typeof value === 'bigint')
    return passing_numbers.test(name) ? 'number' : same(String(value), name);
  if (Array.isArray(value)) return value.map(it => same(it, name));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, same(it, key)]));
  return value;
}

/** Replaces in an answer or row everything that differs between any two runs: identifiers, hashes, times, blocks and fees. */
export const normalized = (value: unknown): unknown => same(value, '');

/** Every row of every table as a line that is the same in any other run of the same calls. */
export async function stateOf(database: Database): Promise<readonly string[]> {
  const tables = await database.query<{ name: string }>({
    text: `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  });
  const lines = tables
    .filter(({ name }) => !BESIDE.has(name) && !BY_HASH.has(name))
    .map(async ({ name }) => {
      const rows = await database.query({ text: `select * from "${name}"` });
      return rows.map(row => `${name} ${JSON.stringify(normalized(row))}`).sort();
    });
  const jobs = await database.query<{ job: string }>({
    text: `select 'job ' || t.identifier || ' ' || count(*) as job from graphile_worker._private_jobs j
      join graphile_worker._private_tasks t on t.id = j.task_id
      where t.identifier not like 'periodic/%' group by t.identifier order by 1`,
  });
  return [...(await Promise.all(lines)).flat(), ...jobs.map(({ job }) => job)];
}

/** Lines that only one of the two contains, as often as it contains them more often than the other. */
export function differences(one: readonly string[], other: readonly string[]): string[] {
  const missing = (from: readonly string[], of: readonly string[], mark: string) => {
    const left = [...of];
    return from.flatMap(line => {
      const at = left.indexOf(line);
      if (at >= 0) left.splice(at, 1);
      return at >= 0 ? [] : `${mark} ${line}`;
    });
  };
  return [...missing(one, other, '-'), ...missing(other, one, '+')];
}
