import java.io.*;

// Does one kind of work N times for each line with an N that it reads, then says "done": java Work KIND.
// class: loads a class anew (the class Empty, by a loader of its own); thread: starts a thread and waits for its end.
public class Work {
	static class Loader extends ClassLoader {
		Class<?> load(byte[] code) {
			return defineClass("Empty", code, 0, code.length);
		}
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		byte[] code;
		try (InputStream file = Work.class.getResourceAsStream("Empty.class")) {
			code = file.readAllBytes();
		}
		for (String line; (line = in.readLine()) != null;) {
			for (int i = Integer.parseInt(line.trim()); i > 0; i--) {
				if (args[0].equals("class")) {
					new Loader().load(code);
				} else {
					Thread t = new Thread();
					t.start();
					t.join();
				}
			}
			System.out.println("done");
		}
	}
}

class Empty {
}
