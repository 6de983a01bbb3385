"""The peers of `cargo xtask bench retrieval`.

peer.py tantivy LANGUAGE PARAGRAPHS QUESTIONS         BM25 of Tantivy with its stemmer: a line of JSON with the figures
peer.py tsvector LANGUAGE PARAGRAPHS QUESTIONS URL    tsvector and ts_rank_cd of PostgreSQL, the words of a question in an OR
peer.py serve                                         all-MiniLM-L6-v2 as an OpenAI-compatible server; prints its address
"""

import http.server
import json
import re
import sys

NAMES = {"ru": ("ru_stem", "russian"), "en": ("en_stem", "english")}


def read(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def figures(questions, ranking):
    first = five = reciprocal = 0
    for question in questions:
        pids = ranking(question["question"])[:10]
        if question["pid"] in pids:
            rank = pids.index(question["pid"])
            first, five, reciprocal = first + (rank == 0), five + (rank < 5), reciprocal + 1 / (rank + 1)
    count = len(questions)
    print(json.dumps({"recall_at_1": first / count, "recall_at_5": five / count, "mrr_at_10": reciprocal / count}))


def tantivy(language, paragraphs, questions):
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("pid", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", stored=False, tokenizer_name="stem")
    index = tantivy.Index(builder.build())
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
    stemmer = {"ru": "russian", "en": "english"}[language]
    index.register_tokenizer("stem", analyzer.filter(tantivy.Filter.stemmer(stemmer)).build())
    writer = index.writer()
    for paragraph in paragraphs:
        writer.add_document(tantivy.Document(pid=[paragraph["pid"]], text=[paragraph["text"]]))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def ranking(question):
        query = index.parse_query(" ".join(re.findall(r"\w+", question)), ["text"])
        return [searcher.doc(address)["pid"][0] for _, address in searcher.search(query, 10).hits]

    figures(questions, ranking)


def tsvector(language, paragraphs, questions, url):
    import psycopg

    config = NAMES[language][1]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("drop table if exists paragraphs")
        connection.execute("create table paragraphs (pid text, words tsvector)")
        for paragraph in paragraphs:
            connection.execute("insert into paragraphs values (%s, to_tsvector(%s::regconfig, %s))", (paragraph["pid"], config, paragraph["text"]))

        def ranking(question):
            words = " | ".join(f"'{word}'" for word in re.findall(r"\w+", question))
            rows = connection.execute(
                "select pid from paragraphs, to_tsquery(%s::regconfig, %s) q where words @@ q order by ts_rank_cd(words, q) desc, pid limit 10",
                (config, words),
            )
            return [pid for (pid,) in rows]

        figures(questions, ranking)


def serve():
    from minilm import MiniLm

    model = MiniLm()

    class Embeddings(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            data = [{"object": "embedding", "index": at, "embedding": model.embed(text).tolist()} for at, text in enumerate(texts)]
            answer = json.dumps({"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    elif sys.argv[1] == "tantivy":
        tantivy(sys.argv[2], read(sys.argv[3]), read(sys.argv[4]))
    else:
        tsvector(sys.argv[2], read(sys.argv[3]), read(sys.argv[4]), sys.argv[5])
