/**
 * A migration, identified by the name of its class. Its statements run once, in one transaction with those of the other migrations that are
 * due.
 */
export abstract class Migration {
  readonly #definitions: string[] = [];
  readonly #seeds: string[] = [];

  abstract up(): void;

  protected addSql(statement: string): void {
    this.#definitions.push(statement);
  }

  /**
   * Adds a statement that writes first rows, and that runs after all definitions. An existing database has these rows already, and is not
   * compared with them.
   */
  protected addSeed(statement: string): void {
    this.#seeds.push(statement);
  }

  /** All statements, the seeds last. */
  statements(): readonly string[] {
    return [...this.definitions(), ...this.#seeds];
  }

  /** The statements that define tables and functions, without seeds. */
  definitions(): readonly string[] {
    if (this.#definitions.length + this.#seeds.length === 0) this.up();
    return this.#definitions;
  }

  /** Names of the tables that the definitions create. */
  tables(): readonly string[] {
    return this.definitions().flatMap(text =>
      [...text.matchAll(/create table (\w+)/g)].map(([, name]) => String(name)),
    );
  }
}

export interface MigrationClass {
  new (): Migration;
  /**
   * For a baseline: names of the earlier migrations that made the same tables, including earlier baselines. The baseline's own name must
   * not be one of them, because a database that has run only a migration of that name would count as complete.
   */
  readonly replaces?: readonly string[];
  /** For a baseline: names in the catalogue of objects that it makes only if the server can. A database may lack them. */
  readonly optional?: readonly string[];
}
