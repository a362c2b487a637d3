/** A step of the schema, by the name of its class: statements that are run once, in one transaction with those of the other steps that are due. */
export abstract class Migration {
  readonly #statements: string[] = [];

  abstract up(): void;

  protected addSql(statement: string): void {
    this.#statements.push(statement);
  }

  /** What it comes to. */
  statements(): readonly string[] {
    if (this.#statements.length === 0) this.up();
    return this.#statements;
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
