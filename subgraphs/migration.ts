/** A step of the schema, by the name of its class: statements that are run once, in one transaction with those of the other steps that are due. */
export abstract class Migration {
  readonly #definitions: string[] = [];
  readonly #seeds: string[] = [];

  abstract up(): void;

  protected addSql(statement: string): void {
    this.#definitions.push(statement);
  }

  /** First rows, written behind all definitions. A database that stands has them, and is not compared with them. */
  protected addSeed(statement: string): void {
    this.#seeds.push(statement);
  }

  /** What it comes to. */
  statements(): readonly string[] {
    return [...this.definitions(), ...this.#seeds];
  }

  /** What it makes, without a row. */
  definitions(): readonly string[] {
    if (this.#definitions.length + this.#seeds.length === 0) this.up();
    return this.#definitions;
  }

  /** The tables among that. */
  tables(): readonly string[] {
    return this.definitions().flatMap(text =>
      [...text.matchAll(/create table (\w+)/g)].map(([, name]) => String(name)),
    );
  }
}

export interface MigrationClass {
  new (): Migration;
  /**
   * Of a baseline: the names of the migrations that made the same tables before there was one, an earlier baseline among them.
   * Its own name is none of theirs: a database that has run that one alone would pass for one that has all of it.
   */
  readonly replaces?: readonly string[];
  /** Of a baseline: what it makes only where the server can, as the catalogue names it. A database may be without. */
  readonly optional?: readonly string[];
}
