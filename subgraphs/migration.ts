/**
 * A migration, identified by the name of its class: statements that run once, in one transaction with those of the other migrations that
 * are due.
 */
export abstract class Migration {
  readonly #definitions: string[] = [];
  readonly #seeds: string[] = [];

  abstract up(): void;

  protected addSql(statement: string): void {
    this.#definitions.push(statement);
  }

  /** Adds first rows, which are written after all definitions. An existing database has them already, and is not compared with them. */
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

  /** Names of the tables that they create. */
  tables(): readonly string[] {
    return this.definitions().flatMap(text =>
      [...text.matchAll(/create table (\w+)/g)].map(([, name]) => String(name)),
    );
  }
}

export interface MigrationClass {
  new (): Migration;
  /**
   * Of a baseline: names of the migrations that made the same tables before it, including earlier baselines. Its own name must not be one
   * of them: a database that has run only that migration would count as complete.
   */
  readonly replaces?: readonly string[];
  /** Of a baseline: objects that it makes only if the server can, by their names in the catalogue. A database may lack them. */
  readonly optional?: readonly string[];
}
